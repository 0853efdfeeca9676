#include "data/checked_file.h"

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/sha256_pair.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// At the start an index up to this size is hashed against the side file.
constexpr uint64_t kIndexHashBytes = uint64_t{16} << 20;

// What the file system said of a read at `from`, with the block it was for.
absl::Status WithBlock(const absl::Status& status, const std::string& path,
                       uint64_t from) {
  if (status.ok()) return status;
  std::string text(status.message());
  const std::string where = "where: " + path;
  const size_t at = text.find(where);
  if (at != std::string::npos) {
    text.insert(at + where.size(),
                ", block " + std::to_string(from / kHashBlockBytes));
  }
  return absl::InvalidArgumentError(text);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckedFile>> CheckedFile::Open(
    FileSystem& fs, const std::string& path) {
  std::unique_ptr<CheckedFile> checked(new CheckedFile());
  checked->path_ = path;
  auto file = fs.OpenRead(path);
  if (!file.ok()) {
    return AsInputError(file.status());
  }
  checked->file_ = *std::move(file);
  return checked;
}

void CheckedFile::Expect(std::vector<Digest> blocks) {
  LS_CHECK_EQ(blocks.size(), (size() + kHashBlockBytes - 1) / kHashBlockBytes);
  expected_ = std::move(blocks);
  holds_ = std::make_unique<std::atomic<bool>[]>(expected_.size());
}

absl::Status CheckedFile::Read(uint64_t from, size_t bytes, void* out) const {
  LS_CHECK(from <= size() && bytes <= size() - from) << from << " + " << bytes;
  if (bytes == 0) {
    return absl::OkStatus();
  }
  if (!expected_.empty()) {
    const uint64_t last = (from + bytes - 1) / kHashBlockBytes;
    for (uint64_t block = from / kHashBlockBytes; block <= last; ++block) {
      LS_RETURN_IF_ERROR(CheckBlock(block));
    }
  }
  return ReadUnchanged(from, bytes, out);
}

absl::Status CheckedFile::ReadUnchanged(uint64_t from, size_t bytes,
                                        void* out) const {
  LS_RETURN_IF_ERROR(WithBlock(file_->ReadAt(from, bytes, out), path_, from));
  return WithBlock(file_->CheckUnchanged(), path_, from);
}

absl::Status CheckedFile::CheckBlock(uint64_t block) const {
  LS_CHECK(block < expected_.size()) << block;
  if (holds_[block].load(std::memory_order_acquire)) {
    return absl::OkStatus();
  }
  const uint64_t from = block * kHashBlockBytes;
  std::string bytes(std::min(kHashBlockBytes, size() - from), '\0');
  LS_RETURN_IF_ERROR(ReadUnchanged(from, bytes.size(), bytes.data()));
  if (DigestOf(bytes.data(), bytes.size()) != expected_[block]) {
    return InputError(
        "the token file is not the one that its block hashes were made of: "
        "block " +
            std::to_string(block) + " differs",
        path_ + ", block " + std::to_string(block) + ", bytes " +
            std::to_string(from) + " to " + std::to_string(from + bytes.size()),
        "see all damage with `lockstep data verify` and restore the file, or "
        "delete its .blocks file if it was replaced on purpose");
  }
  holds_[block].store(true, std::memory_order_release);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Digest>> CheckedFile::HashBlocks() const {
  std::vector<Digest> digests;
  std::string first(kHashBlockBytes, '\0'), second(kHashBlockBytes, '\0');
  for (uint64_t from = 0; from < size(); from += 2 * kHashBlockBytes) {
    const size_t count = std::min(kHashBlockBytes, size() - from);
    LS_RETURN_IF_ERROR(ReadUnchanged(from, count, first.data()));
    const uint64_t next = from + count;
    const size_t more = std::min(kHashBlockBytes, size() - next);
    if (more > 0) LS_RETURN_IF_ERROR(ReadUnchanged(next, more, second.data()));
    if (more == count) {
      for (const Digest& digest :
           Sha256Pair(first.data(), second.data(), count)) {
        digests.push_back(digest);
      }
      continue;
    }
    digests.push_back(DigestOf(first.data(), count));
    if (more > 0) digests.push_back(DigestOf(second.data(), more));
  }
  return digests;
}

absl::StatusOr<Digest> CheckedFile::HashWhole() const {
  Sha256 hash;
  std::string bytes(kHashBlockBytes, '\0');
  for (uint64_t from = 0; from < size(); from += kHashBlockBytes) {
    const size_t count = std::min(kHashBlockBytes, size() - from);
    LS_RETURN_IF_ERROR(ReadUnchanged(from, count, bytes.data()));
    hash.Update(bytes.data(), count);
  }
  return hash.Digest();
}

absl::Status HoldAgainst(BlockHashes hashes, const std::string& where,
                         const CheckedFile& index, CheckedFile& bin) {
  bool differs =
      hashes.bin_bytes != bin.size() || hashes.idx_bytes != index.size();
  if (!differs && index.size() <= kIndexHashBytes) {
    LS_ASSIGN_OR_RETURN(const Digest now, index.HashWhole());
    differs = now != hashes.idx;
  }
  if (differs) {
    return InputError(
        "the token file is not the one that its block hashes were made of",
        where,
        "see where with `lockstep data verify`; restore the files, or delete "
        "this one if they were replaced on purpose");
  }
  const uint64_t last = hashes.blocks.size() - 1;
  bin.Expect(std::move(hashes.blocks));
  // Damage at the ends is told at the start, not at the step that reads it.
  LS_RETURN_IF_ERROR(bin.CheckBlock(0));
  return bin.CheckBlock(last);
}

}  // namespace lockstep
