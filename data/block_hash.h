// PREFIX.blocks: what the bytes of a token file pair were when it was made.
//
// One SHA-256 per MiB of PREFIX.bin, one of PREFIX.idx, and a content hash over
// those, which is the pair's identity in a run's manifest. Blocks, so that
// damage is located to a MiB and so that terabytes can be verified in pieces;
// a side file, so that Megatron's own files stay as they are. Grammar in
// FORMAT.md. Not for the fingerprints of a step (data_fingerprint.h).

#ifndef DATA_BLOCK_HASH_H_
#define DATA_BLOCK_HASH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

inline constexpr uint64_t kHashBlockBytes = uint64_t{1} << 20;

// Of SHA-256.
using Digest = std::array<uint8_t, 32>;

Digest DigestOf(const void* data, size_t bytes);

struct BlockHashes {
  uint64_t bin_bytes = 0;
  uint64_t idx_bytes = 0;
  Digest idx = {};
  std::vector<Digest> blocks;  // ceil(bin_bytes / MiB)

  // 64 hex digits: SHA-256 over the blocks' digests in order, then the index's.
  std::string ContentHash() const;

  std::string Serialize() const;
};

// InputError for contents that are not a whole side file; `where` names it.
absl::StatusOr<BlockHashes> ParseBlockHashes(std::string_view contents,
                                             std::string_view where);

// A range of a file that is not what was written.
struct DataDamage {
  std::string file;
  uint64_t from = 0;  // byte offsets, `to` exclusive
  uint64_t to = 0;
};

using VerifyProgress =
    std::function<void(uint64_t bytes_done, uint64_t bytes_total)>;

// Reads all of PREFIX.bin and PREFIX.idx against PREFIX.blocks, in memory of
// one block; empty when all holds. Neighbouring damaged blocks are one entry; a
// damaged index is reported as a whole. InputError when a file is missing or
// the side file is itself damaged.
absl::StatusOr<std::vector<DataDamage>> VerifyBlocks(
    FileSystem& fs, const std::string& prefix,
    const VerifyProgress& progress = nullptr);
// The same for files of any name: tokens, index, side file.
absl::StatusOr<std::vector<DataDamage>> VerifyBlocks(
    FileSystem& fs, const std::string& bin_path, const std::string& idx_path,
    const std::string& side_path, const VerifyProgress& progress = nullptr);

}  // namespace lockstep

#endif  // DATA_BLOCK_HASH_H_
