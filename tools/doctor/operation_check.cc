#include "tools/doctor/operation_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/saved_operation/layer_rerun.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

bool SameTensors(const std::vector<KeptTensor>& got,
                 const std::vector<KeptTensor>& want) {
  return std::all_of(got.begin(), got.end(), [&](const KeptTensor& tensor) {
    const KeptTensor* other = FindKept(want, tensor.name);
    return other != nullptr && other->shape == tensor.shape &&
           other->dtype == tensor.dtype && other->bytes == tensor.bytes;
  });
}

Agreement AgreementOf(const std::vector<KeptTensor>& outputs,
                      const SavedOperation& o) {
  const bool a = SameTensors(outputs, o.outputs_a);
  const bool b = SameTensors(outputs, o.outputs_b);
  return a && b ? Agreement::kBoth
         : a    ? Agreement::kA
         : b    ? Agreement::kB
                : Agreement::kNeither;
}

std::string Reading(const OperationCheck& check) {
  const bool inputs =
      std::all_of(check.runs.begin(), check.runs.end(),
                  [](const OperationRun& run) { return run.inputs_as_saved; });
  if (!check.repeats()) {
    return "it does not repeat on this machine: a race, or its arithmetic or "
           "memory; run `lockstep doctor`, and this on another machine";
  }
  if (!inputs) {
    return "its layer does not come to the inputs that were saved: this is "
           "another program than the runs', or another machine computes "
           "otherwise; see which runs' program this is";
  }
  switch (check.agrees()) {
    case Agreement::kBoth:
      return "it repeats, and both runs left this: what differs between them "
             "is not in what was compared";
    case Agreement::kA:
    case Agreement::kB:
      return absl::StrCat(
          "it repeats, and run ", NameOf(check.agrees()),
          " left this: what run ", check.agrees() == Agreement::kA ? "b" : "a",
          " left is another program's or library's, if it comes back in a "
          "replay, else its machine's or a race");
    case Agreement::kNeither:
      return "it repeats, and neither run left this: this is another program "
             "than both";
  }
  return "";
}

}  // namespace

const char* NameOf(Agreement agreement) {
  switch (agreement) {
    case Agreement::kBoth:
      return "both";
    case Agreement::kA:
      return "a";
    case Agreement::kB:
      return "b";
    case Agreement::kNeither:
      return "neither";
  }
  return "";
}

bool OperationCheck::repeats() const {
  return std::all_of(runs.begin(), runs.end(),
                     [](const OperationRun& run) { return run.same_as_first; });
}

Agreement OperationCheck::agrees() const {
  if (runs.empty() || !repeats()) return Agreement::kNeither;
  return runs.front().agrees;
}

bool OperationCheck::sound() const {
  return !runs.empty() && repeats() && agrees() != Agreement::kNeither &&
         runs.front().inputs_as_saved;
}

absl::StatusOr<OperationCheck> CheckOperation(const SavedOperation& operation,
                                              int threads) {
  constexpr int kRepeats = 3;
  OperationCheck check = {.operation = ToString(operation.identity),
                          .tensor = operation.tensor,
                          .run_a = operation.run_a,
                          .run_b = operation.run_b,
                          .runs = {}};
  std::vector<KeptTensor> first;
  for (const Isa isa : PresentIsas()) {
    for (const int count : std::set<int>{1, 2, 3, threads}) {
      for (int repeat = 1; repeat <= kRepeats; ++repeat) {
        LS_ASSIGN_OR_RETURN(OperationRerun rerun,
                            RerunOperation(operation, isa, count));
        if (rerun.outputs.empty()) {
          return InputError(
              "all that the operation leaves are sums over micro-batches, and "
              "the file has one of these",
              check.operation, "replay its step, with --trace");
        }
        if (check.runs.empty()) first = rerun.outputs;
        check.runs.push_back(
            {.isa = isa,
             .threads = count,
             .repeat = repeat,
             .inputs_as_saved = SameTensors(rerun.inputs, operation.inputs),
             .same_as_first = SameTensors(rerun.outputs, first),
             .agrees = AgreementOf(rerun.outputs, operation)});
      }
    }
  }
  return check;
}

std::string OperationCheckText(const OperationCheck& check) {
  std::string text = absl::StrCat(check.operation, "\n  a ", check.run_a,
                                  "\n  b ", check.run_b, "\n");
  for (const OperationRun& run : check.runs) {
    if (run.repeat != 1 && run.same_as_first) continue;
    absl::StrAppend(&text, "  ", NameOf(run.isa), ", ", run.threads,
                    " threads: agrees with ", NameOf(run.agrees),
                    run.inputs_as_saved ? "" : ", from other inputs",
                    run.same_as_first
                        ? ""
                        : absl::StrCat(", DIFFERS (repeat ", run.repeat, ")"),
                    "\n");
  }
  return absl::StrCat(text, Reading(check), "\n");
}

std::string OperationCheckJson(const OperationCheck& check) {
  Json runs = Json::array();
  for (const OperationRun& run : check.runs) {
    runs.push_back({{"isa", NameOf(run.isa)},
                    {"threads", run.threads},
                    {"repeat", run.repeat},
                    {"inputs", run.inputs_as_saved},
                    {"same_as_first", run.same_as_first},
                    {"agrees", NameOf(run.agrees)}});
  }
  return Json{{"operation", check.operation},     {"tensor", check.tensor},
              {"runs", std::move(runs)},          {"repeats", check.repeats()},
              {"agrees", NameOf(check.agrees())}, {"sound", check.sound()},
              {"reading", Reading(check)}}
             .dump() +
         "\n";
}

}  // namespace lockstep
