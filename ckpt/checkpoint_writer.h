// Writes a checkpoint's folder under a name that is no checkpoint's yet.
// Inside ckpt only.

#ifndef CKPT_CHECKPOINT_WRITER_H_
#define CKPT_CHECKPOINT_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/save.h"
#include "ckpt/save_ranks.h"
#include "ckpt/snapshot.h"
#include "determinism/file_system.h"

namespace lockstep {

class CheckpointWriter {
 public:
  // `snapshot` is the first rank's. Nothing is owned.
  CheckpointWriter(FileSystem& file_system, const SaveOptions& options,
                   ShardTask task, Snapshot& snapshot);

  // Empty, and before any other rank looks for it.
  absl::Status MakeFolder();
  // All files and the names in the folder are on the device after OK.
  absl::Status Write(SaveRanks& ranks);

  CheckpointIndex& index() { return index_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  // All of the index but hashes and places.
  void Describe();
  void DescribeTensors();
  void AddShard(const WrittenShard& shard);
  absl::Status WriteFile(const std::string& name, const std::string& text);

  FileSystem& file_system_;
  const SaveOptions& options_;
  const ShardTask task_;
  Snapshot& snapshot_;
  CheckpointIndex index_;
  uint64_t size_bytes_ = 0;
};

}  // namespace lockstep

#endif  // CKPT_CHECKPOINT_WRITER_H_
