// A checkpoint's tensors, read in parts of bounded size, from whatever boxes
// they were saved in.
//
// For looks at checkpoints that no model is loaded for: diff.h and reshard.h. A
// part is a box of the unsharded tensor whose elements lie back to back in the
// box that was asked for; the shards are opened as they are needed. Not the
// load (load.h), which fills a rank's memory. Hashes are the caller's affair:
// parts are smaller than what has one.

#ifndef CKPT_TENSOR_PARTS_H_
#define CKPT_TENSOR_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/box.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"

namespace lockstep {

// What one part may take, and as much again for reading it.
inline constexpr int64_t kPartBytes = int64_t{4} << 20;

// Cuts `box` of a tensor of `shape` into parts, in row-major order: each is
// contiguous in the box, and no box that it meets has more than `most_bytes`
// between the first and the last byte that it wants of it. One element is
// always a part.
absl::Status ForEachPart(const std::vector<int64_t>& shape, size_t width,
                         const Box& box, int64_t most_bytes,
                         const std::function<absl::Status(const Box&)>& body);

Box WholeOf(const IndexTensor& tensor);

// The place of a tensor in the index, or -1.
ptrdiff_t NumberOf(const CheckpointIndex& index, const std::string& name);

// Of a part of it (N11).
Fingerprint FingerprintOf(const IndexTensor& tensor, const Box& part,
                          std::span<const char> bytes);
// NoUsableCheckpoint unless `sum` is the tensor's fingerprint; `dir` is where
// the bytes were read.
absl::Status CheckSum(const IndexTensor& tensor, const Fingerprint& sum,
                      const std::string& dir);

class CheckpointReader {
 public:
  // `dir` is a folder with a sound index; shards are opened when first read.
  static absl::StatusOr<std::unique_ptr<CheckpointReader>> Open(
      FileSystem& file_system, const std::string& dir);

  const CheckpointIndex& index() const { return index_; }
  const std::string& dir() const { return dir_; }

  // Fills `out`, which has the part's bytes, row-major.
  absl::Status Read(const IndexTensor& tensor, const Box& part,
                    std::span<char> out);
  // The part's bytes, until the next call.
  absl::StatusOr<std::span<const char>> Read(const IndexTensor& tensor,
                                             const Box& part);
  // Of the bytes of a tensor of index().
  absl::StatusOr<Fingerprint> Sum(const IndexTensor& tensor);
  // Reads everything: NoUsableCheckpoint unless the bytes of each tensor have
  // its fingerprint.
  absl::Status CheckFingerprints();

 private:
  CheckpointReader(FileSystem& file_system, std::string dir)
      : file_system_(file_system), dir_(std::move(dir)) {}
  absl::StatusOr<RandomAccessFile*> Shard(const std::string& name);
  absl::Status ReadFromBox(const IndexTensor& tensor, const IndexBox& box,
                           const Box& both, const Box& part,
                           std::span<char> out);

  FileSystem& file_system_;
  const std::string dir_;
  CheckpointIndex index_;
  std::map<std::string, std::unique_ptr<RandomAccessFile>> shards_;
  std::vector<char> part_;
  std::vector<char> rows_;  // of a box that is wider than the part
};

}  // namespace lockstep

#endif  // CKPT_TENSOR_PARTS_H_
