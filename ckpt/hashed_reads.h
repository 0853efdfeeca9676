// Stretches of files, read and hashed as fast as the device gives them. Inside
// ckpt only.
//
// What it is: two pairs of threads. Each takes two stretches at a time, and
// while one thread reads pieces of both, the other puts the pieces before to
// their places and hashes them together (determinism/sha256_pair.h). What it is
// not: a check; the caller knows what the hashes are to be. Why so: one core
// cannot hash what a quick device gives; the largest stretches go first, so
// that no core is left with one.

#ifndef CKPT_HASHED_READS_H_
#define CKPT_HASHED_READS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "ckpt/hash_tree.h"
#include "determinism/file_system.h"

namespace lockstep {

struct HashedRead {
  const RandomAccessFile* file = nullptr;
  uint64_t from = 0;  // byte of the file, which has all that are asked for
  uint64_t bytes = 0;
  std::byte* to = nullptr;  // null: they are read for their hash alone
  // What came of it. The hashes are of the memory at `to`, if there is any,
  // after the bytes are there; no root where the status, or another's, is not
  // OK.
  HashTree tree = {};
  absl::Status status = {};
  // Called (null: nobody) from any thread once the bytes are at `to`.
  std::function<void()> arrived = {};

  void Finish(HashTree whole) {
    tree = std::move(whole);
    if (arrived) arrived();
  }
};

// With trees over blocks of `block_bytes`: whole MiB, or 0 for all of a stretch
// (a bug else). After the first that fails the rest is left alone.
void ReadAndHash(std::span<HashedRead> reads,
                 uint64_t block_bytes = kHashBlockBytes);

}  // namespace lockstep

#endif  // CKPT_HASHED_READS_H_
