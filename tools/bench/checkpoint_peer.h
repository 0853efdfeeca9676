// Somebody else's checkpoint of the same bytes, in turns with ours.
//
// What it is: a peer (peer_step.h) and its best time at the case that is under
// way. Its FILE is {"shard": a safetensors file with the state, "folder": one
// to write to, which exists}. It is sent `open` when the shard is there: to
// take it into memory. Then, in turns with us, `stall` (a save that goes on
// beside training: until training goes on), `save` (until the bytes are on the
// device) and `load` (from a device that nobody has read from). What it is not:
// a check that it hashes or compares anything; ours does
// (tests/oracle/bench_dcp.py).
#ifndef LOCKSTEP_TOOLS_BENCH_CHECKPOINT_PEER_H_
#define LOCKSTEP_TOOLS_BENCH_CHECKPOINT_PEER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/bench/bench.h"
#include "tools/bench/peer_step.h"

namespace lockstep {

class CheckpointPeer {
 public:
  // Waits until it is ready; `dir` gets its folder and its file.
  static absl::StatusOr<CheckpointPeer> Start(FileSystem& fs,
                                              const std::string& command,
                                              const std::string& dir,
                                              const std::string& shard,
                                              int threads);

  // Before its first turn: takes the shard into memory.
  absl::Status Open() { return peer_->Seconds("open").status(); }
  // Once; the best of a case counts.
  void Turn(const char* what, absl::Status& status);
  // If it had turns since the last call: puts it beside the last of `cases`,
  // which did `work`, and behind it as a case of its own.
  void AddTo(std::vector<BenchCase>& cases, double work);

 private:
  explicit CheckpointPeer(std::unique_ptr<PeerStep> peer)
      : peer_(std::move(peer)) {}

  std::unique_ptr<PeerStep> peer_;
  double seconds_ = 0;  // 0: it had no turn
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_CHECKPOINT_PEER_H_
