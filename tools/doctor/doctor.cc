#include "tools/doctor/doctor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "determinism/float_env.h"
#include "tools/doctor/checks.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

std::string LevelNames(const std::vector<Isa>& isas) {
  return absl::StrJoin(isas, ", ", [](std::string* out, Isa isa) {
    absl::StrAppend(out, NameOf(isa));
  });
}

bool AllGood(const std::vector<DoctorFinding>& findings) {
  return std::all_of(findings.begin(), findings.end(),
                     [](const DoctorFinding& f) { return f.good; });
}

const char* Verdict(const DoctorFinding& finding, bool canary) {
  if (!canary) return finding.good ? "sound" : "UNSOUND";
  if (finding.result.injected == 0) return "absent";
  return finding.good ? "fires" : "SILENT";
}

std::string LineOf(const DoctorFinding& finding, bool canary) {
  std::string text =
      absl::StrFormat("%-8s %-20s %s\n", Verdict(finding, canary), finding.name,
                      finding.result.summary);
  if (canary && finding.result.injected > 0) {
    absl::StrAppendFormat(&text, "%30sbroken: %s; found %d of %d\n", "",
                          finding.fault, finding.result.faults.size(),
                          finding.result.injected);
  }
  constexpr size_t kMost = 8;
  const auto& faults = finding.result.faults;
  const size_t shown = canary ? std::min<size_t>(1, faults.size())
                              : std::min(kMost, faults.size());
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppendFormat(&text, "%30s%s\n", "", faults[i]);
  }
  if (!canary && faults.size() > shown) {
    absl::StrAppendFormat(&text, "%30sand %d more\n", "",
                          faults.size() - shown);
  }
  return text;
}

std::string LastLine(bool good, bool canary) {
  if (canary) {
    return good ? "every check fires\n"
                : "NOT EVERY CHECK FIRES: this build cannot be trusted to find "
                  "a faulty machine\n";
  }
  return good ? "this machine is sound\n"
              : "THIS MACHINE IS UNSOUND: do not train on it; run doctor again "
                "to see whether the fault recurs\n";
}

}  // namespace

const std::vector<DoctorCheck>& AllDoctorChecks() {
  static const std::vector<DoctorCheck> all = {
      {"levels", "a level that no machine has is asked for", CheckLevels},
      {"kernels", "one bit of an output, in the second run", CheckKernels},
      {"float environment", "a library rounds up on every thread",
       CheckFloatEnv},
      {"elementary functions", "one bit of one value", CheckFunctions},
      {"random numbers", "one bit of a counter", CheckRandom},
      {"exact sums", "binary64 adds in place of integers", CheckExactSums},
      {"fingerprints", "two words change places", CheckFingerprints},
      {"files", "writes that say OK and write nothing", CheckFiles},
      {"MPI", "another library than was built against", CheckMpi},
      {"CUDA", "one bit of what the device is given", CheckCuda},
      {"clock", "a clock that goes back once", CheckClock},
  };
  return all;
}

std::vector<DoctorFinding> Examine(const Examination& examination) {
  const ScopedFloatEnv float_env;
  std::vector<DoctorFinding> findings;
  for (const DoctorCheck& check : AllDoctorChecks()) {
    DoctorFinding finding = {.name = check.name,
                             .fault = check.fault,
                             .result = check.run(examination)};
    const auto found = static_cast<int64_t>(finding.result.faults.size());
    finding.good =
        examination.broken ? found == finding.result.injected : found == 0;
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::string DoctorText(const std::vector<DoctorFinding>& findings,
                       const Examination& examination) {
  const MachineInfo machine = DescribeMachine();
  std::string text = absl::StrFormat(
      "%s, %d cores, %s, %s\nlevels: %s; used: %s, %d threads\n",
      machine.cpu_model, machine.cores, machine.kernel, machine.compiler,
      LevelNames(machine.isas), NameOf(examination.isa), examination.threads);
  for (const DoctorFinding& finding : findings) {
    absl::StrAppend(&text, LineOf(finding, examination.broken));
  }
  return text + LastLine(AllGood(findings), examination.broken);
}

std::string DoctorJson(const std::vector<DoctorFinding>& findings,
                       const Examination& examination) {
  const MachineInfo machine = DescribeMachine();
  Json checks = Json::array();
  for (const DoctorFinding& f : findings) {
    Json check = {{"name", f.name},
                  {"good", f.good},
                  {"summary", f.result.summary},
                  {"faults", f.result.faults}};
    if (examination.broken) {
      check["broken"] = f.fault;
      check["injected"] = f.result.injected;
    }
    checks.push_back(std::move(check));
  }
  Json levels = Json::array();
  for (const Isa isa : machine.isas) levels.push_back(NameOf(isa));
  return Json{{examination.broken ? "fires" : "sound", AllGood(findings)},
              {"machine",
               {{"cpu", machine.cpu_model},
                {"cores", machine.cores},
                {"levels", levels},
                {"used", NameOf(examination.isa)},
                {"threads", examination.threads}}},
              {"checks", checks}}
             .dump() +
         "\n";
}

}  // namespace lockstep
