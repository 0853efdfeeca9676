#include "tools/diff/diff_verb.h"

#include "determinism/status.h"
#include "tools/diff/run_diff.h"

namespace lockstep {

absl::StatusOr<Answer> DiffVerb(const DiffOptions& options) {
  LS_ASSIGN_OR_RETURN(
      const RunDiff diff,
      DiffRuns(*PosixFileSystem(), options.run_a, options.run_b));
  return Answer{options.json ? RunDiffJson(diff) : RunDiffText(diff),
                !diff.equal};
}

}  // namespace lockstep
