#include "tests/golden/debug_run.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/check.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

constexpr int64_t kSteps[] = {1, 5, 20};

// LOCKSTEP_ISA for as long as this lives: the level is chosen as a user would.
class ForcedLevel {
 public:
  explicit ForcedLevel(Isa isa) { setenv("LOCKSTEP_ISA", NameOf(isa), 1); }
  ~ForcedLevel() { unsetenv("LOCKSTEP_ISA"); }
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;
};

Json PointOf(const std::string& line) {
  const Json metrics = Json::parse(line);
  return {{"step", metrics["step"]},
          {"data", metrics["fingerprint"]["data"]},
          {"loss_bits", metrics["loss_bits"]},
          {"params", metrics["fingerprint"]["params"]}};
}

std::string What(const Json& want, const Json& got, const char* field) {
  return absl::StrCat("step ", want["step"].get<int64_t>(), ": ", field, " is ",
                      got.value(field, "missing"), ", committed is ",
                      want[field].get<std::string>());
}

}  // namespace

const std::vector<std::string>& GoldenModes() {
  static const std::vector<std::string> modes = {"fp32", "bf16", "fp16"};
  return modes;
}

Json RecordDebugRun(const std::string& mode, Isa isa,
                    const std::vector<std::string>& faults) {
  const ForcedLevel level(isa);
  const TrainRig rig(
      absl::StrCat("debug_run_", mode, "_", NameOf(isa), "_", faults.size()),
      TrainRig::kAsShipped);
  const RigResult result =
      rig.Train({.sets = {"precision.mode=" + mode, "checkpoint.every=0"},
                 .faults = faults});
  LS_CHECK(result.status.ok()) << std::string(result.status.message());
  const std::vector<std::string> lines =
      absl::StrSplit(rig.Read("metrics.jsonl"), '\n', absl::SkipEmpty());
  Json points = Json::array();
  for (const int64_t step : kSteps) {
    LS_CHECK_LE(step, static_cast<int64_t>(lines.size()));
    points.push_back(PointOf(lines[static_cast<size_t>(step) - 1]));
  }
  return points;
}

std::vector<std::string> GoldenDifferences(const Json& want, const Json& got) {
  if (want.empty() || want.size() != got.size()) {
    return {absl::StrCat(got.size(), " points, committed are ", want.size())};
  }
  std::vector<std::string> differences;
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i]["data"] != got[i]["data"]) {
      return {absl::StrCat(What(want[i], got[i], "data"),
                           "\n  the samples are others, so the numbers must "
                           "be: is /usr/share/common-licenses/GPL-3 Debian's, "
                           "or has the order of data changed?")};
    }
    for (const char* field : {"loss_bits", "params"}) {
      if (want[i][field] == got[i][field]) continue;
      differences.push_back(What(want[i], got[i], field));
    }
  }
  return differences;
}

}  // namespace lockstep
