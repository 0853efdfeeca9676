// Files of named tensors that any reader of the safetensors format opens.
//
// For checkpoint shards. A file is: header length (u64, little-endian), header
// (JSON: name -> dtype, shape, data_offsets; padded with blanks so that the
// data begin a page), data. The reader trusts nothing: every number
// is checked before it is used, and the tensors must cover the data exactly, so
// no byte of a file is beyond the names. Not a checkpoint: what belongs
// together, and what each byte hashes to, says the index
// (checkpoint_index.h).
//
// Format: https://github.com/huggingface/safetensors (README, "Format").

#ifndef CKPT_SAFETENSORS_H_
#define CKPT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/dtype.h"
#include "determinism/file_system.h"

namespace lockstep {

struct SafetensorsSpec {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;  // [] is a scalar, a 0 an empty tensor
};

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t offset_bytes = 0;  // in the file
  uint64_t size_bytes = 0;
};

// Writes in one pass, with nothing but the header in memory.
class SafetensorsWriter {
 public:
  // Creates `path`, which must not exist, and writes the header. Names must be
  // distinct, and none `__metadata__` (bugs). `metadata` joins the customary
  // format = pt.
  static absl::StatusOr<std::unique_ptr<SafetensorsWriter>> Create(
      FileSystem& file_system, const std::string& path,
      std::vector<SafetensorsSpec> tensors,
      const std::map<std::string, std::string>& metadata = {});

  // In the order of the data: wider types first, so that every tensor lies
  // aligned, equal widths by name.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }

  // The next tensor of entries(), whole; another name or size is a bug.
  absl::Status WriteTensor(std::string_view name,
                           std::span<const std::byte> data);

  // The data as the file has them, for who has them in one piece; in as many
  // parts as the caller likes.
  absl::Status WriteData(std::span<const std::byte> data);

  // After the last tensor: everything is on the device, but for the name.
  absl::Status Finish();

  // Of the length and the header together; where the data begin.
  const std::string& header_sha256() const { return header_sha256_; }
  uint64_t header_bytes() const { return header_bytes_; }
  uint64_t file_bytes() const;

 private:
  SafetensorsWriter() = default;

  std::unique_ptr<WritableFile> file_;
  std::vector<SafetensorsEntry> entries_;
  size_t next_ = 0;
  uint64_t header_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  std::string header_sha256_;
};

class SafetensorsFile {
 public:
  // DataLoss, with the place, for anything but a sound file.
  static absl::StatusOr<std::unique_ptr<SafetensorsFile>> Open(
      FileSystem& file_system, const std::string& path);

  std::vector<std::string> Names() const;  // sorted
  // Null if there is none.
  const SafetensorsEntry* Find(const std::string& name) const;
  // In the order of the data.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }

  // Fills `out`, whose size must be the tensor's (a bug otherwise).
  absl::Status ReadTensor(const std::string& name,
                          std::span<std::byte> out) const;

  // For who reads many tensors at a time, from where entries() says.
  const RandomAccessFile& file() const { return *file_; }

  uint64_t header_bytes() const { return header_bytes_; }
  const std::string& header_sha256() const { return header_sha256_; }
  uint64_t file_bytes() const { return file_->Size(); }

 private:
  SafetensorsFile() = default;

  std::unique_ptr<RandomAccessFile> file_;
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, size_t> by_name_;
  std::map<std::string, std::string> metadata_;
  uint64_t header_bytes_ = 0;
  std::string header_sha256_;
};

// Bytes of a tensor; InvalidArgument for a negative dim or more than 2^63 - 1.
absl::StatusOr<uint64_t> TensorBytes(DType dtype,
                                     const std::vector<int64_t>& shape);

}  // namespace lockstep

#endif  // CKPT_SAFETENSORS_H_
