// TokenFile and its side file of block hashes.

#include <utility>

#include "data/block_hash.h"
#include "data/data_error.h"
#include "data/token_file.h"
#include "determinism/status.h"

namespace lockstep {
absl::Status TokenFile::FindContentHash(FileSystem& fs) {
  const std::string side_path = prefix_ + ".blocks";
  if (!fs.Exists(side_path)) {
    if (bin_bytes() <= kHashAtOpenBytes) {
      LS_ASSIGN_OR_RETURN(const BlockHashes now, Hash());
      content_hash_ = now.ContentHash();
    }
    return absl::OkStatus();
  }
  auto contents = fs.ReadFile(side_path);
  if (!contents.ok()) {
    return AsInputError(contents.status());
  }
  LS_ASSIGN_OR_RETURN(BlockHashes hashes,
                      ParseBlockHashes(*contents, side_path));
  content_hash_ = hashes.ContentHash();
  has_block_hashes_ = true;
  return HoldAgainst(std::move(hashes), side_path, idx_->file(), *bin_);
}

absl::StatusOr<BlockHashes> TokenFile::Hash() const {
  BlockHashes hashes;
  hashes.bin_bytes = bin_bytes();
  hashes.idx_bytes = idx_bytes();
  LS_ASSIGN_OR_RETURN(hashes.idx, idx_->Hash());
  LS_ASSIGN_OR_RETURN(hashes.blocks, bin_->HashBlocks());
  return hashes;
}

}  // namespace lockstep
