#include <optional>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/status.h"
#include "tools/bench/bench_stepper.h"
#include "tools/bench/benches.h"
#include "tools/bench/checkpoint_cases.h"
#include "tools/bench/checkpoint_peer.h"
#include "tools/bench/scratch.h"

namespace lockstep {
absl::StatusOr<std::vector<BenchCase>> BenchCheckpoint(
    const BenchOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Make(options.scratch));
  const std::string run = scratch / "run";
  LS_RETURN_IF_ERROR(fs.MakeDirs(run));
  // Before the model is made: what cannot start is refused at once.
  std::optional<CheckpointPeer> peer;
  if (!options.peer.empty()) {
    LS_ASSIGN_OR_RETURN(
        peer, CheckpointPeer::Start(fs, options.peer, run, BenchShard(run),
                                    static_cast<int>(options.threads)));
  }
  const ScopedFloatEnv float_env;
  LS_ASSIGN_OR_RETURN(const auto made,
                      MakeBenchStepper(options, scratch.dir(),
                                       {"batch.global=1", "batch.micro=1"}));
  return CheckpointCases(*made->stepper, run, options, peer ? &*peer : nullptr);
}

}  // namespace lockstep
