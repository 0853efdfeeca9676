// What ranks that save together say to each other. Inside ckpt only.
//
// Each rank writes a shard of the boxes that it has and tells the first one
// what lies where and what it hashes to; the first rank writes the index. All
// steps are collective, and an error of one is the error of all. A rank that is
// alone says nothing to anybody.

#ifndef CKPT_SAVE_RANKS_H_
#define CKPT_SAVE_RANKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/fingerprint.h"
#include "determinism/state.h"
#include "parallel/communicator.h"

namespace lockstep {

// Where a rank writes its shard.
struct ShardTask {
  std::string dir = {};
  int64_t step = 0;
  std::string run_id = {};
};

// A shard as the index describes it.
struct WrittenShard {
  std::string file = {};
  IndexFile entry = {};
  std::vector<IndexBox> boxes = {};     // as the entries that were written
  std::vector<std::string> names = {};  // of their tensors
};

class SaveRanks {
 public:
  // Null: one rank. Not owned.
  explicit SaveRanks(Communicator* world) : world_(world) {}

  int rank() const { return alone() ? 0 : world_->rank(); }
  absl::Status Announce(const ShardTask& task);  // on the first rank
  absl::StatusOr<ShardTask> Hear();              // on the others
  absl::Status Agree(const absl::Status& mine);
  absl::StatusOr<int64_t> Total(int64_t mine);
  // The first rank's text, on all.
  absl::StatusOr<std::string> OfFirst(std::string mine);
  // The state of all ranks (N11).
  absl::StatusOr<std::vector<TensorFingerprint>> Whole(
      const StateRegistry& registry, StateGroupSet groups);
  // This rank's shares become the sums over all; all have the same records.
  absl::Status Add(std::vector<TensorFingerprint>& shares);
  // Of each rank, on all.
  absl::StatusOr<std::vector<WrittenShard>> Gather(const WrittenShard& mine);

 private:
  bool alone() const { return world_ == nullptr || world_->size() == 1; }
  Communicator* world_;
};

}  // namespace lockstep

#endif  // CKPT_SAVE_RANKS_H_
