// Token files read through against their block hashes.

#include <algorithm>

#include "data/block_hash.h"
#include "data/data_error.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Adds [from, to), joined to a range that ends where it begins.
void AddDamage(const std::string& file, uint64_t from, uint64_t to,
               std::vector<DataDamage>& damage) {
  if (!damage.empty() && damage.back().file == file &&
      damage.back().to == from) {
    damage.back().to = to;
  } else {
    damage.push_back({file, from, to});
  }
}

// Counts bytes for the display.
struct Progress {
  const VerifyProgress& report;
  uint64_t done = 0;
  uint64_t total = 0;

  void Add(uint64_t bytes) {
    done += bytes;
    if (report) {
      report(done, total);
    }
  }
};

absl::Status VerifyBin(const std::string& path, const RandomAccessFile& file,
                       const BlockHashes& expected, Progress& progress,
                       std::vector<DataDamage>& damage) {
  std::string buffer(kHashBlockBytes, '\0');
  for (size_t i = 0; i < expected.blocks.size(); ++i) {
    const uint64_t from = i * kHashBlockBytes;
    const uint64_t to = std::min(from + kHashBlockBytes, expected.bin_bytes);
    if (to > file.Size()) {
      AddDamage(path, from, to, damage);
      continue;
    }
    LS_RETURN_IF_ERROR(file.ReadAt(from, to - from, buffer.data()));
    if (DigestOf(buffer.data(), to - from) != expected.blocks[i]) {
      AddDamage(path, from, to, damage);
    }
    progress.Add(to - from);
  }
  if (file.Size() > expected.bin_bytes) {
    AddDamage(path, expected.bin_bytes, file.Size(), damage);
  }
  return absl::OkStatus();
}

absl::Status VerifyIdx(const std::string& path, const RandomAccessFile& file,
                       const BlockHashes& expected, Progress& progress,
                       std::vector<DataDamage>& damage) {
  std::string buffer(kHashBlockBytes, '\0');
  Sha256 hash;
  for (uint64_t from = 0; from < file.Size(); from += kHashBlockBytes) {
    const uint64_t bytes = std::min(kHashBlockBytes, file.Size() - from);
    LS_RETURN_IF_ERROR(file.ReadAt(from, bytes, buffer.data()));
    hash.Update(buffer.data(), bytes);
    progress.Add(bytes);
  }
  if (hash.Digest() != expected.idx || file.Size() != expected.idx_bytes) {
    AddDamage(path, 0, std::max(file.Size(), expected.idx_bytes), damage);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<DataDamage>> VerifyBlocks(
    FileSystem& fs, const std::string& prefix, const VerifyProgress& report) {
  return VerifyBlocks(fs, prefix + ".bin", prefix + ".idx", prefix + ".blocks",
                      report);
}

absl::StatusOr<std::vector<DataDamage>> VerifyBlocks(
    FileSystem& fs, const std::string& bin_path, const std::string& idx_path,
    const std::string& side_path, const VerifyProgress& report) {
  auto contents = fs.ReadFile(side_path);
  if (!contents.ok()) {
    return InputError("no block hashes to verify the token file against",
                      side_path,
                      "prepare the data with `lockstep data prepare`");
  }
  LS_ASSIGN_OR_RETURN(const BlockHashes expected,
                      ParseBlockHashes(*contents, side_path));
  auto bin = fs.OpenRead(bin_path);
  if (!bin.ok()) {
    return AsInputError(bin.status());
  }
  auto idx = fs.OpenRead(idx_path);
  if (!idx.ok()) {
    return AsInputError(idx.status());
  }
  std::vector<DataDamage> damage;
  Progress progress{report, 0, (*bin)->Size() + (*idx)->Size()};
  LS_RETURN_IF_ERROR(
      AsInputError(VerifyBin(bin_path, **bin, expected, progress, damage)));
  LS_RETURN_IF_ERROR(
      AsInputError(VerifyIdx(idx_path, **idx, expected, progress, damage)));
  return damage;
}

}  // namespace lockstep
