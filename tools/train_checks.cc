#include "tools/train_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
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
  if (!until || *until >= 1) return absl::OkStatus();
  return InputError("--until takes a step from 1 on",
                    absl::StrCat("--until ", *until), "give a later step");
}

}  // namespace lockstep
