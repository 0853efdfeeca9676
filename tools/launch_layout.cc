// A recipe's layout for as many ranks as a launch has.
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/run_setup.h"

namespace lockstep {

absl::StatusOr<ResolvedRun> ResolveLayout(FileSystem& fs,
                                          const std::string& recipe_path,
                                          const std::vector<std::string>& sets,
                                          const std::string& run_dir,
                                          const Manifest* parent, int ranks,
                                          bool fresh) {
  LS_ASSIGN_OR_RETURN(ResolvedRun run, ResolveRun(fs, recipe_path, sets,
                                                  run_dir, parent, fresh));
  const ParallelConfig& p = run.config.parallel;
  const int64_t replica = p.tensor * p.pipeline;
  if (p.data && replica * *p.data == ranks) return run;
  if (!p.data && ranks == replica) return run;
  if (!p.data && ranks % replica == 0) {
    std::vector<std::string> all = sets;
    all.push_back(absl::StrCat("parallel.data=", ranks / replica));
    return ResolveRun(fs, recipe_path, all, run_dir, parent, fresh);
  }
  const std::string layout = absl::StrCat(
      "parallel.tensor = ", p.tensor, ", parallel.pipeline = ", p.pipeline,
      p.data ? absl::StrCat(", parallel.data = ", *p.data) : "");
  const int64_t below = ranks / replica * replica;
  return InputError(
      absl::StrCat("a launch of ", ranks, " rank(s) is not this layout's"),
      absl::StrCat(recipe_path, ", ", layout),
      p.data ? absl::StrCat("start ", replica * *p.data,
                            " ranks (--ranks, or mpirun -n), or leave "
                            "parallel.data out")
      : below == 0
          ? absl::StrCat("start ", replica, " ranks (--ranks, or mpirun -n)")
          : absl::StrCat("start ", below, " or ", below + replica,
                         " ranks (--ranks, or mpirun -n)"));
}

}  // namespace lockstep
