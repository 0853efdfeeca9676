// The cases of `lockstep bench checkpoint`, each in turns with its probe.
#ifndef LOCKSTEP_TOOLS_BENCH_CHECKPOINT_CASES_H_
#define LOCKSTEP_TOOLS_BENCH_CHECKPOINT_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/bench.h"
#include "tools/stepper.h"

namespace lockstep {

// Of the stepper's state after a step; `dir` is a run's folder to fill.
absl::StatusOr<std::vector<BenchCase>> CheckpointCases(
    Stepper& stepper, const std::string& dir, const BenchOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_CHECKPOINT_CASES_H_
