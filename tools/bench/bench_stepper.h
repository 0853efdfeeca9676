// A stepper on text of a bench's own, ready for its first step.
//
// What it is: the recipe, its data and a stepper on one rank, made as `train`
// makes them, in a folder that the bench throws away. What it is not: a
// measure. Why so: benches of saves and of traces must step the same thing.
#ifndef LOCKSTEP_TOOLS_BENCH_BENCH_STEPPER_H_
#define LOCKSTEP_TOOLS_BENCH_BENCH_STEPPER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dataset.h"
#include "parallel/communicator.h"
#include "tools/bench/bench.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {

struct BenchStepper {
  explicit BenchStepper(ResolvedRun resolved) : run(std::move(resolved)) {}

  ResolvedRun run;
  Machine machine;
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Stepper> stepper;  // uses all of the above
};

// `folder` exists and gets the text and what is prepared of it; `sets` come
// before the options'. Errors of the recipe and of the data. The caller holds a
// ScopedFloatEnv.
absl::StatusOr<std::unique_ptr<BenchStepper>> MakeBenchStepper(
    const BenchOptions& options, const std::string& folder,
    const std::vector<std::string>& sets);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_BENCH_STEPPER_H_
