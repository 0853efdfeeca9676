// The SHA-256 tree over a box's bytes: a hash a block, and one over those.
//
// What it is: the rule (FORMAT.md), and the questions that can be asked of two
// trees. What it is not: the hashing of much at a time (box_hashes.h,
// hashed_reads.h). Why so: one hash over gigabytes says that a bit has changed,
// and a hash a block says where; the one over them is what an index, or whoever
// writes one down, names a box by.

#ifndef CKPT_HASH_TREE_H_
#define CKPT_HASH_TREE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "determinism/sha256.h"

namespace lockstep {

inline constexpr uint64_t kHashBlockBytes = uint64_t{1} << 20;

struct HashTree {
  std::string root = {};                 // 64 lower-case hex digits
  std::vector<std::string> leaves = {};  // the same; empty: the root is the one
};

// Blocks of `block_bytes` (0: of all bytes) that `bytes` bytes have; those of
// nothing too have one.
uint64_t BlocksOf(uint64_t bytes, uint64_t block_bytes);

// The leaves in hex, at least one.
HashTree TreeOf(std::vector<std::string> leaves);

// Of bytes that come in pieces of any length.
class TreeHash {
 public:
  explicit TreeHash(uint64_t block_bytes = kHashBlockBytes);
  void Update(std::string_view bytes);
  HashTree Finish();

 private:
  const uint64_t block_bytes_;
  std::optional<Sha256> block_;  // the one that is being hashed
  uint64_t in_block_ = 0;        // bytes
  std::vector<std::string> leaves_;
};

struct ByteRange {
  uint64_t from = 0;
  uint64_t to = 0;  // the one after the last
};

// The blocks of `bytes` bytes in which two trees differ, neighbours as one
// range; counted from `offset`. Trees with other numbers of leaves differ in
// everything.
std::vector<ByteRange> ChangedBlocks(const HashTree& then, const HashTree& now,
                                     uint64_t offset, uint64_t bytes,
                                     uint64_t block_bytes);
// "bytes A to B, C to D", the first few.
std::string TextOf(const std::vector<ByteRange>& ranges);

}  // namespace lockstep

#endif  // CKPT_HASH_TREE_H_
