// Writes shards out of another checkpoint's, in parts. Inside ckpt only.

#ifndef CKPT_SHARD_COPY_H_
#define CKPT_SHARD_COPY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/box.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/safetensors.h"
#include "ckpt/tensor_parts.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"

namespace lockstep {

struct ShardPiece {
  size_t tensor = 0;  // number in the index
  Box box = {};
};

class ShardCopier {
 public:
  // Borrowed. `dir` gets the shards.
  ShardCopier(FileSystem& file_system, CheckpointReader& from, std::string dir);

  // The shard of `rank`: `pieces` by ascending tensor. Their boxes and the file
  // join `index`, which has the tensors of the source.
  absl::Status Write(int rank, const std::vector<ShardPiece>& pieces,
                     CheckpointIndex& index);
  // What all shards together had read is what the saver had.
  absl::Status CheckSums() const;

 private:
  absl::StatusOr<HashTree> WritePiece(SafetensorsWriter& shard,
                                      const ShardPiece& piece);

  FileSystem& file_system_;
  CheckpointReader& from_;
  const std::string dir_;
  std::vector<Fingerprint> sums_;  // a tensor
};

}  // namespace lockstep

#endif  // CKPT_SHARD_COPY_H_
