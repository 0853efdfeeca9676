#include "ckpt/hashed_reads.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "ckpt/read_pairs.h"
#include "ckpt/staging_memory.h"
#include "determinism/check.h"
#include "determinism/sha256_pair.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The last one begins with the smallest.
constexpr size_t kLanes = 3;
// A block of a tree is one, or some.
constexpr uint64_t kPieceBytes = kHashBlockBytes;
constexpr uint64_t kPageBytes = 4096;
constexpr size_t kSlots = 6;

uint64_t PieceBytes(const HashedRead& read, uint64_t at) {
  return std::min(kPieceBytes, read.bytes - at);
}

// Two threads: one reads the pieces of a pair side by side into a ring, the
// other hashes them. Who reads is hardly ever at work, so that the device is
// given the next piece at once even on a machine that is.
class Lane {
 public:
  Lane(ReadPairs& pairs, uint64_t block_bytes, bool smallest)
      : pairs_(pairs), block_bytes_(block_bytes), smallest_(smallest) {
    threads_[0] = std::thread([this] { Read(); });
    threads_[1] = std::thread([this] { Hash(); });
  }
  ~Lane() {
    for (std::thread& thread : threads_) thread.join();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

 private:
  // The piece at `at` of both, or of the longer one alone.
  struct Slot {
    ReadPairs::Pair pair = {};  // without a first: the end
    uint64_t at = 0;
    const std::byte* bytes[2] = {};
  };
  // A piece and the pages around it, which can be read past the system's cache.
  // In large pages: what a device is given is a list of places, and with small
  // ones it takes twice as long.
  static constexpr size_t kBufferBytes = kPieceBytes + 2 * kPageBytes;

  void Read() {
    const absl::Status memory = memory_.Reserve(kSlots * 2 * kBufferBytes);
    if (memory.ok()) memory_.Touch();
    ReadPairs::Pair pair = pairs_.Next(smallest_);
    while (pair.first != nullptr && pairs_.Note(*pair.first, memory) &&
           ReadPair(pair)) {
      pair = pairs_.Next(smallest_);
    }
    free_.acquire();
    Put({});
  }

  bool ReadPair(const ReadPairs::Pair& pair) {
    uint64_t at = 0;
    do {  // one of nothing has a hash too
      free_.acquire();
      Slot slot = {pair, at, {}};
      for (size_t n = 0; n < 2; ++n) {
        HashedRead* const read = n == 0 ? pair.first : pair.second;
        if (read == nullptr || at >= read->bytes) continue;
        const auto bytes = ReadPiece(*read, at, 2 * put_ + n);
        if (!pairs_.Note(*read, bytes.status())) {
          free_.release();
          return false;
        }
        slot.bytes[n] = *bytes;
      }
      Put(slot);
      at += kPieceBytes;
    } while (at < pair.first->bytes);
    return true;
  }

  absl::StatusOr<const std::byte*> ReadPiece(const HashedRead& read,
                                             uint64_t at, size_t buffer) {
    const uint64_t from = read.from + at;
    const uint64_t before = from % kPageBytes;
    const uint64_t end = from + PieceBytes(read, at);
    const uint64_t pages_end = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
    const uint64_t bytes =
        std::min(pages_end, std::max(end, read.file->Size())) - (from - before);
    std::byte* const to = memory_.bytes().data() + buffer * kBufferBytes;
    LS_RETURN_IF_ERROR(read.file->ReadAt(from - before, bytes, to));
    return to + before;
  }

  void Put(const Slot& slot) {
    ring_[put_] = slot;
    put_ = (put_ + 1) % kSlots;
    full_.release();
  }

  void Hash() {
    std::optional<Sha256PairStream> hashes;
    for (size_t take = 0;; take = (take + 1) % kSlots) {
      full_.acquire();
      const Slot& slot = ring_[take];
      if (slot.pair.first == nullptr) return;
      if (BlockEndsAt(slot.at)) hashes.emplace();  // and another begins
      HashSlot(slot, *hashes);
      free_.release();
    }
  }

  bool BlockEndsAt(uint64_t at) const {
    return block_bytes_ == 0 ? at == 0 : at % block_bytes_ == 0;
  }

  void HashSlot(const Slot& slot, Sha256PairStream& hashes) const {
    HashedRead* const reads[2] = {slot.pair.first, slot.pair.second};
    const std::byte* from[2] = {slot.bytes[0], slot.bytes[1]};
    uint64_t bytes[2] = {};
    for (size_t n = 0; n < 2; ++n) {
      if (from[n] == nullptr) continue;
      bytes[n] = PieceBytes(*reads[n], slot.at);
      if (reads[n]->to == nullptr) continue;
      std::memcpy(reads[n]->to + slot.at, from[n], bytes[n]);
      from[n] = reads[n]->to + slot.at;
    }
    // Whole blocks of both; what is left of either goes alone.
    const uint64_t both = bytes[0] == bytes[1] ? bytes[0] : bytes[1] / 64 * 64;
    if (both > 0) hashes.Update(from[0], from[1], both);
    for (size_t n = 0; n < 2; ++n) {
      if (bytes[n] != both) {
        hashes.UpdateOne(n, from[n] + both, bytes[n] - both);
      }
      const bool here = from[n] != nullptr ||  // one of nothing has a hash too
                        (reads[n] != nullptr && reads[n]->bytes == 0);
      if (here) TakeLeaf(*reads[n], slot.at + bytes[n], hashes, n);
    }
  }

  void TakeLeaf(HashedRead& read, uint64_t at, const Sha256PairStream& hashes,
                size_t n) const {
    if (at < read.bytes && !BlockEndsAt(at)) return;
    read.tree.leaves.push_back(HexOf(hashes.Digest(n)));
    if (at == read.bytes) read.Finish(TreeOf(std::move(read.tree.leaves)));
  }

  ReadPairs& pairs_;
  const uint64_t block_bytes_;
  const bool smallest_;
  StagingMemory memory_;
  std::array<Slot, kSlots> ring_;
  size_t put_ = 0;  // the reader's place
  std::counting_semaphore<kSlots> free_{kSlots}, full_{0};
  std::array<std::thread, 2> threads_;
};

// Threads and large pages cost more than a few bytes do.
void ReadAlone(std::span<HashedRead> reads, uint64_t block_bytes) {
  std::vector<std::byte> aside;
  for (HashedRead& read : reads) {
    TreeHash hash(block_bytes);
    if (read.bytes > 0) {
      if (read.to == nullptr) aside.resize(read.bytes);
      std::byte* const to = read.to == nullptr ? aside.data() : read.to;
      read.status = read.file->ReadAt(read.from, read.bytes, to);
      if (!read.status.ok()) return;
      hash.Update({reinterpret_cast<const char*>(to), read.bytes});
    }
    read.Finish(hash.Finish());
  }
}

}  // namespace

void ReadAndHash(std::span<HashedRead> reads, uint64_t block_bytes) {
  LS_CHECK_EQ(block_bytes % kPieceBytes, 0u);
  uint64_t bytes = 0;
  for (const HashedRead& read : reads) bytes += read.bytes;
  if (bytes <= kPieceBytes) return ReadAlone(reads, block_bytes);
  ReadPairs pairs(reads);
  std::deque<Lane> lanes;
  while (lanes.size() < std::min(kLanes, pairs.count())) {
    lanes.emplace_back(pairs, block_bytes, lanes.size() + 1 == kLanes);
  }
}

}  // namespace lockstep
