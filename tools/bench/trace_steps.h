// What a trace costs: steps of one recipe with and without, in turns.
#ifndef LOCKSTEP_TOOLS_BENCH_TRACE_STEPS_H_
#define LOCKSTEP_TOOLS_BENCH_TRACE_STEPS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/bench.h"

namespace lockstep {

// A case a level that `only` is in, in seconds a step; its probe are the steps
// without a trace, and the ratio is the median over rounds of a traced step to
// the mean of the two around it. `scratch`: an existing folder.
absl::StatusOr<std::vector<BenchCase>> TraceStepCases(
    const BenchOptions& options, const std::string& scratch);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_TRACE_STEPS_H_
