#include "ckpt/hash_tree.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "determinism/check.h"

namespace lockstep {

uint64_t BlocksOf(uint64_t bytes, uint64_t block_bytes) {
  if (block_bytes == 0 || bytes == 0) return 1;
  return (bytes - 1) / block_bytes + 1;
}

HashTree TreeOf(std::vector<std::string> leaves) {
  LS_CHECK(!leaves.empty());
  if (leaves.size() == 1) return {std::move(leaves[0]), {}};
  Sha256 root;
  for (const std::string& leaf : leaves) {
    root.Update(absl::HexStringToBytes(leaf));
  }
  return {root.Hex(), std::move(leaves)};
}

TreeHash::TreeHash(uint64_t block_bytes) : block_bytes_(block_bytes) {
  block_.emplace();
}

void TreeHash::Update(std::string_view bytes) {
  while (!bytes.empty()) {
    if (block_bytes_ > 0 && in_block_ == block_bytes_) {
      leaves_.push_back(block_->Hex());
      block_.emplace();
      in_block_ = 0;
    }
    const size_t most =
        block_bytes_ == 0 ? bytes.size() : block_bytes_ - in_block_;
    const std::string_view part = bytes.substr(0, most);
    block_->Update(part);
    in_block_ += part.size();
    bytes.remove_prefix(part.size());
  }
}

HashTree TreeHash::Finish() {
  leaves_.push_back(block_->Hex());
  return TreeOf(std::move(leaves_));
}

std::vector<ByteRange> ChangedBlocks(const HashTree& then, const HashTree& now,
                                     uint64_t offset, uint64_t bytes,
                                     uint64_t block_bytes) {
  if (then.root == now.root) return {};
  if (then.leaves.empty() || then.leaves.size() != now.leaves.size()) {
    return {{offset, offset + bytes}};
  }
  std::vector<ByteRange> ranges;
  for (size_t i = 0; i < then.leaves.size(); ++i) {
    if (then.leaves[i] == now.leaves[i]) continue;
    const uint64_t from = i * block_bytes;
    const uint64_t to = offset + std::min(from + block_bytes, bytes);
    if (!ranges.empty() && ranges.back().to == offset + from) {
      ranges.back().to = to;
    } else {
      ranges.push_back({offset + from, to});
    }
  }
  return ranges;
}

std::string TextOf(const std::vector<ByteRange>& ranges) {
  constexpr size_t kMost = 3;
  std::string text;
  for (size_t i = 0; i < ranges.size() && i < kMost; ++i) {
    absl::StrAppend(&text, i == 0 ? "bytes " : ", ", ranges[i].from, " to ",
                    ranges[i].to);
  }
  return ranges.size() > kMost ? text + " and more" : text;
}

}  // namespace lockstep
