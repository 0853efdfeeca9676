// The bytes of one input file, in order, unpacked.
//
// What gzip (RFC 1952, several members too) and Zstandard (RFC 8878, several
// frames too) need so that a source of documents need not know about them. A
// packed file that ends early, whose checksum does not hold or that has other
// bytes behind its end is refused: a corpus that is silently short would train
// without a word. Not for random access.

#ifndef DATA_BYTE_STREAM_H_
#define DATA_BYTE_STREAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

enum class Packing : uint8_t { kNone, kGzip, kZstd };

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // A part, valid until the next call; empty at the end only. Not to be
  // called again after an error. InputError, naming the file, for one that
  // cannot be read or unpacked to its end.
  virtual absl::StatusOr<std::string_view> Next() = 0;
  // Bytes of the file itself read so far, for progress.
  virtual uint64_t bytes_read() const = 0;
};

// InputError where the file has not `bytes` bytes, as when it was listed.
absl::StatusOr<std::unique_ptr<ByteStream>> OpenByteStream(
    FileSystem& fs, const std::string& path, uint64_t bytes, Packing packing);

}  // namespace lockstep

#endif  // DATA_BYTE_STREAM_H_
