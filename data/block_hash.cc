#include "data/block_hash.h"

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

absl::Status NotASideFile(std::string_view what, std::string_view where) {
  return InputError(what, where,
                    "delete it, or prepare the data again; nothing but "
                    "verification depends on it");
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

}  // namespace lockstep
