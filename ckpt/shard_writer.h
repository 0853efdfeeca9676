// A rank's shard: written, hashed meanwhile, and described. Inside ckpt only.
//
// Hashing (box_hashes.h) goes on beside the writing, and so does a look for
// numbers that are not finite.

#ifndef CKPT_SHARD_WRITER_H_
#define CKPT_SHARD_WRITER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/save_ranks.h"
#include "ckpt/snapshot.h"
#include "determinism/file_system.h"

namespace lockstep {

// This rank's part in the shards of all, and in the fingerprints of the whole,
// which are in `snapshot` afterwards; what all ranks have written comes back.
absl::StatusOr<std::vector<WrittenShard>> WriteShards(FileSystem& file_system,
                                                      const ShardTask& task,
                                                      Snapshot& snapshot,
                                                      SaveRanks& ranks);

}  // namespace lockstep

#endif  // CKPT_SHARD_WRITER_H_
