#include "tools/train_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/batch_schedule.h"
#include "tools/bazel/build_stamp.h"

namespace lockstep {

// A run whose code is in no commit cannot be explained later.
absl::Status CheckBuild(const std::vector<std::string>& allow) {
  if (!BuildDirty()) return absl::OkStatus();
  if (std::find(allow.begin(), allow.end(), "dirty") != allow.end()) {
    return absl::OkStatus();
  }
  return InputError(
      BuildStamped() ? "this binary was built from files that differ from "
                       "their commit"
                     : "this binary carries no commit (an unstamped build)",
      absl::StrCat("commit ", BuildCommit()),
      "commit and rebuild, or pass --allow dirty --reason TEXT, which the "
      "manifest and the ledger record");
}

absl::Status CheckUntil(const std::optional<int64_t>& until) {
  if (!until || (*until >= 1 && *until <= kMostSteps)) return absl::OkStatus();
  return InputError(absl::StrCat("--until takes a step from 1 to ", kMostSteps),
                    absl::StrCat("--until ", *until),
                    "give such a step, or leave it out");
}

absl::Status CheckFaultRanks(const std::vector<FaultSpec>& faults,
                             int64_t ranks) {
  for (const FaultSpec& fault : faults) {
    if (fault.rank.value_or(0) < ranks) continue;
    return InputError(
        absl::StrCat("a fault of rank ", *fault.rank, ", and the run has ",
                     ranks, " rank(s), from 0 on"),
        "--fault '" + fault.text + "'",
        "name a rank below that, or leave rank= out");
  }
  return absl::OkStatus();
}

std::string NothingToDo(int64_t done, int64_t steps,
                        const std::optional<int64_t>& until) {
  if (done >= steps) {
    return absl::StrCat("nothing to do: the run stands at step ", done,
                        ", and the recipe's length is ", steps,
                        " steps; make it longer to go on");
  }
  return absl::StrCat("nothing to do: the run stands at step ", done, " of ",
                      steps, ", and --until ", *until, " is not beyond it");
}

}  // namespace lockstep
