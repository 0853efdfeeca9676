#include "data/block_hash.h"

#include <algorithm>
#include <cstring>

#include "data/data_error.h"
#include "data/token_format.h"
#include "determinism/check.h"
#include "determinism/sha256.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kSideMagic[8] = {'L', 'S', 'B', 'L', 'O', 'C', 'K', 'S'};
constexpr uint64_t kSideVersion = 1;
constexpr uint64_t kSideHeaderBytes = 8 + 4 * 8;

uint64_t BlockCount(uint64_t bytes) {
  return bytes / kHashBlockBytes + (bytes % kHashBlockBytes != 0 ? 1 : 0);
}

void AppendDigest(const Digest& digest, std::string& out) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

Digest LoadDigest(const char* from) {
  Digest digest;
  std::memcpy(digest.data(), from, digest.size());
  return digest;
}

uint64_t LoadU64(std::string_view contents, size_t offset) {
  return LoadLittle<uint64_t>(
      reinterpret_cast<const std::byte*>(contents.data() + offset));
}

void UpdateWithDigests(const BlockHashes& hashes, Sha256& hash) {
  for (const Digest& block : hashes.blocks) {
    hash.Update(block.data(), block.size());
  }
  hash.Update(hashes.idx.data(), hashes.idx.size());
}

Digest ContentDigest(const BlockHashes& hashes) {
  Sha256 hash;
  UpdateWithDigests(hashes, hash);
  return hash.Digest();
}

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

absl::Status NotASideFile(std::string_view what, std::string_view where) {
  return InputError(what, where,
                    "delete it, or prepare the data again; nothing but "
                    "verification depends on it");
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

Digest DigestOf(const void* data, size_t bytes) {
  Sha256 hash;
  hash.Update(data, bytes);
  return hash.Digest();
}

std::string BlockHashes::ContentHash() const {
  Sha256 hash;
  UpdateWithDigests(*this, hash);
  return hash.Hex();
}

std::string BlockHashes::Serialize() const {
  std::string out(kSideMagic, sizeof(kSideMagic));
  AppendLittle<uint64_t>(kSideVersion, out);
  AppendLittle<uint64_t>(kHashBlockBytes, out);
  AppendLittle<uint64_t>(bin_bytes, out);
  AppendLittle<uint64_t>(idx_bytes, out);
  for (const Digest& block : blocks) {
    AppendDigest(block, out);
  }
  AppendDigest(idx, out);
  AppendDigest(ContentDigest(*this), out);
  AppendDigest(DigestOf(out.data(), out.size()), out);
  return out;
}

absl::StatusOr<BlockHashes> ParseBlockHashes(std::string_view contents,
                                             std::string_view where) {
  constexpr size_t kDigest = sizeof(Digest);
  if (contents.size() < kSideHeaderBytes + 3 * kDigest ||
      std::memcmp(contents.data(), kSideMagic, sizeof(kSideMagic)) != 0) {
    return NotASideFile("not a file of block hashes", where);
  }
  if (LoadU64(contents, 8) != kSideVersion ||
      LoadU64(contents, 16) != kHashBlockBytes) {
    return NotASideFile("block hashes of another version", where);
  }
  const size_t body = contents.size() - kDigest;
  if (DigestOf(contents.data(), body) != LoadDigest(&contents[body])) {
    return NotASideFile("the file of block hashes is damaged", where);
  }
  BlockHashes hashes;
  hashes.bin_bytes = LoadU64(contents, 24);
  hashes.idx_bytes = LoadU64(contents, 32);
  const uint64_t count = BlockCount(hashes.bin_bytes);
  if ((body - kSideHeaderBytes) / kDigest != count + 2 ||
      (body - kSideHeaderBytes) % kDigest != 0) {
    return NotASideFile("block hashes do not match their own count", where);
  }
  const char* next = contents.data() + kSideHeaderBytes;
  for (uint64_t i = 0; i < count; ++i, next += kDigest) {
    hashes.blocks.push_back(LoadDigest(next));
  }
  hashes.idx = LoadDigest(next);
  if (LoadDigest(next + kDigest) != ContentDigest(hashes)) {
    return NotASideFile("the content hash does not match the block hashes",
                        where);
  }
  return hashes;
}

absl::StatusOr<std::vector<DataDamage>> VerifyBlocks(
    FileSystem& fs, const std::string& prefix, const VerifyProgress& report) {
  const std::string side_path = prefix + ".blocks";
  auto contents = fs.ReadFile(side_path);
  if (!contents.ok()) {
    return InputError("no block hashes to verify the token file against",
                      side_path,
                      "prepare the data with `lockstep data prepare`");
  }
  LS_ASSIGN_OR_RETURN(const BlockHashes expected,
                      ParseBlockHashes(*contents, side_path));
  auto bin = fs.OpenRead(prefix + ".bin");
  if (!bin.ok()) {
    return AsInputError(bin.status());
  }
  auto idx = fs.OpenRead(prefix + ".idx");
  if (!idx.ok()) {
    return AsInputError(idx.status());
  }
  std::vector<DataDamage> damage;
  Progress progress{report, 0, (*bin)->Size() + (*idx)->Size()};
  LS_RETURN_IF_ERROR(AsInputError(
      VerifyBin(prefix + ".bin", **bin, expected, progress, damage)));
  LS_RETURN_IF_ERROR(AsInputError(
      VerifyIdx(prefix + ".idx", **idx, expected, progress, damage)));
  return damage;
}

}  // namespace lockstep
