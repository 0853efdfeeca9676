// TokenFile and its side file of block hashes.

#include <utility>

#include "data/block_hash.h"
#include "data/data_error.h"
#include "data/token_file.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// At Open an index up to this size is hashed against the side file.
constexpr uint64_t kIndexHashBytes = uint64_t{16} << 20;

}  // namespace

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
  LS_RETURN_IF_ERROR(SpotCheck(hashes));
  content_hash_ = hashes.ContentHash();
  has_block_hashes_ = true;
  bin_->Expect(std::move(hashes.blocks));
  // Damage at the ends is told at the start, not at the step that reads it.
  LS_RETURN_IF_ERROR(bin_->CheckBlock(0));
  return bin_->CheckBlock((bin_bytes() - 1) / kHashBlockBytes);
}

// A side file that stayed behind when the pair was replaced would lend it a
// false identity. Sizes and a small index tell; then each block when it is
// first read.
absl::Status TokenFile::SpotCheck(const BlockHashes& hashes) const {
  const std::span<const std::byte> idx = idx_->bytes();
  if (hashes.bin_bytes != bin_bytes() || hashes.idx_bytes != idx.size() ||
      (idx.size() <= kIndexHashBytes &&
       DigestOf(idx.data(), idx.size()) != hashes.idx)) {
    return InputError(
        "the token file is not the one that its block hashes were made of",
        prefix_ + ".blocks",
        "see where with `lockstep data verify`; restore the pair, or delete "
        "the .blocks file if the pair was replaced on purpose");
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockHashes> TokenFile::Hash() const {
  BlockHashes hashes;
  hashes.bin_bytes = bin_bytes();
  hashes.idx_bytes = idx_bytes();
  hashes.idx = DigestOf(idx_->bytes().data(), idx_->bytes().size());
  LS_ASSIGN_OR_RETURN(hashes.blocks, bin_->HashBlocks());
  return hashes;
}

absl::StatusOr<std::string> WriteBlockHashes(FileSystem& fs,
                                             const std::string& prefix) {
  LS_ASSIGN_OR_RETURN(const auto file, TokenFile::Open(fs, prefix));
  LS_RETURN_IF_ERROR(file->CheckTables());
  LS_ASSIGN_OR_RETURN(const BlockHashes hashes, file->Hash());
  LS_RETURN_IF_ERROR(
      WriteFileAtomically(fs, file->prefix() + ".blocks", hashes.Serialize()));
  return hashes.ContentHash();
}

}  // namespace lockstep
