// The cases of `lockstep bench checkpoint`, each in turns with its probe and,
// if `--peer` names a command, with that (checkpoint_peer.h).
#ifndef LOCKSTEP_TOOLS_BENCH_CHECKPOINT_CASES_H_
#define LOCKSTEP_TOOLS_BENCH_CHECKPOINT_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/bench.h"
#include "tools/bench/checkpoint_peer.h"
#include "tools/stepper.h"

namespace lockstep {

// The shard in a run's folder that a peer is told of.
std::string BenchShard(const std::string& dir);

// Of the stepper's state after a step; `dir` is a run's folder to fill. `peer`
// may be null.
absl::StatusOr<std::vector<BenchCase>> CheckpointCases(
    Stepper& stepper, const std::string& dir, const BenchOptions& options,
    CheckpointPeer* peer);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_CHECKPOINT_CASES_H_
