#include "data/checked_file.h"

#include <algorithm>
#include <utility>

#include "data/data_error.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<std::unique_ptr<CheckedFile>> CheckedFile::Open(
    FileSystem& fs, const std::string& path) {
  std::unique_ptr<CheckedFile> checked(new CheckedFile());
  checked->path_ = path;
  auto identity = fs.Map(path);
  if (!identity.ok()) {
    return AsInputError(identity.status());
  }
  checked->identity_ = *std::move(identity);
  auto file = fs.OpenRead(path);
  if (!file.ok()) {
    return AsInputError(file.status());
  }
  checked->file_ = *std::move(file);
  // Between the two opens the path may have come to name another file.
  LS_RETURN_IF_ERROR(AsInputError(checked->identity_->CheckUnchanged()));
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
  LS_RETURN_IF_ERROR(AsInputError(file_->ReadAt(from, bytes, out)));
  return AsInputError(identity_->CheckUnchanged());
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
  std::string bytes(kHashBlockBytes, '\0');
  for (uint64_t from = 0; from < size(); from += kHashBlockBytes) {
    const size_t count = std::min(kHashBlockBytes, size() - from);
    LS_RETURN_IF_ERROR(ReadUnchanged(from, count, bytes.data()));
    digests.push_back(DigestOf(bytes.data(), count));
  }
  return digests;
}

}  // namespace lockstep
