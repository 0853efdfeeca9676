// A step to look into though no line of two runs differs. Inside this folder
// only.
//
// What it is: the step that one run alone has; the one that stopped a run by
// its numbers, which has no line; and, of runs without fingerprints, the one
// after which other states were saved. What it is not: a replay. Why so: lines
// say nothing of a step that was not finished, nor all of one that was.
#ifndef LOCKSTEP_TOOLS_BISECT_HIDDEN_STEP_H_
#define LOCKSTEP_TOOLS_BISECT_HIDDEN_STEP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"
#include "tools/bisect/evidence.h"
#include "tools/diff/metric_lines.h"

namespace lockstep {

// The step that stopped a run, behind lines that agree as far as they go, and
// that the other did or was stopped by as well; 0: none.
int64_t RefusedStep(const MetricsParting& m, const Evidence& evidence);

// Into `evidence`, whose stops and checkpoints are known: `missing_step`, and
// `step` where there is one to look into.
absl::Status FindHiddenStep(FileSystem& fs, const std::string& a,
                            const std::string& b, const MetricsParting& metrics,
                            Evidence& evidence);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_HIDDEN_STEP_H_
