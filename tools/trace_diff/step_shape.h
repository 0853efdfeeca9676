// Whether two traces are of steps that were cut alike.
//
// What it is: into which micro-batches a step is cut, and whether it does
// forward again for backward, as the first step that both finished tells. What
// it is not: a difference of the runs: neither moves a bit. Why so: operations
// are a micro-batch's, so those of another cut have no match, and a verdict
// over what happens to match would blame what is sound.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_STEP_SHAPE_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_STEP_SHAPE_H_

#include <string>

#include "absl/status/status.h"
#include "tools/trace_diff/trace_pair.h"

namespace lockstep {

// InputError where they differ, which says in what; `names` of both. Where
// `recompute_may_differ` only the micro-batches count.
absl::Status CheckSameCut(const TracePair& pair, const std::string& names,
                          bool recompute_may_differ = false);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_STEP_SHAPE_H_
