#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/status.h"
#include "tools/bench/bench_stepper.h"
#include "tools/bench/benches.h"
#include "tools/bench/checkpoint_cases.h"
#include "tools/bench/scratch.h"

namespace lockstep {
absl::StatusOr<std::vector<BenchCase>> BenchCheckpoint(
    const BenchOptions& options) {
  if (!options.peer.empty()) {
    return InputError("bench checkpoint has no peer", "--peer " + options.peer,
                      "leave it out");
  }
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  const ScopedFloatEnv float_env;
  LS_ASSIGN_OR_RETURN(const auto made,
                      MakeBenchStepper(options, scratch.dir(),
                                       {"batch.global=1", "batch.micro=1"}));
  LS_RETURN_IF_ERROR(fs.MakeDirs(scratch / "run"));
  return CheckpointCases(*made->stepper, scratch / "run", options);
}

}  // namespace lockstep
