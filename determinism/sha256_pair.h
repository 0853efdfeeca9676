// SHA-256 of two messages of one length at a time.
//
// What it is: digests of blocks that do not depend on each other (data/,
// block_hash.h), whole or in pieces, by the CPU's SHA instructions where it has
// them and by OpenSSL where not. What it is not: a hash of its own: the digests
// are those of FIPS 180-4. Why so: a round waits four cycles for the
// one before it, and a core can begin one every two; a second message fills the
// gap, and two take little longer than one (bench prepare).

#ifndef DETERMINISM_SHA256_PAIR_H_
#define DETERMINISM_SHA256_PAIR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "determinism/sha256.h"

namespace lockstep {

using Sha256Digest = std::array<uint8_t, 32>;

// 64 lower-case hex digits.
std::string HexOf(const Sha256Digest& digest);

// Whether this CPU has the instructions.
bool CpuHasSha256();

// The digests of the `bytes` bytes at `a` and at `b`, which may overlap. Tests
// turn the instructions off; on a CPU without them they are not to be asked for
// (LS_CHECK).
std::array<Sha256Digest, 2> Sha256Pair(const void* a, const void* b,
                                       size_t bytes,
                                       bool instructions = CpuHasSha256());

// Two messages that come in pieces. They need not be of one length: what one
// has more takes as long as both would.
class Sha256PairStream {
 public:
  explicit Sha256PairStream(bool instructions = CpuHasSha256());

  // The next `bytes` bytes of both messages. Each piece of a message is whole
  // blocks of 64 bytes, but for its last one (LS_CHECK).
  void Update(const void* a, const void* b, size_t bytes);
  // The same of message 0 or 1 alone.
  void UpdateOne(size_t message, const void* data, size_t bytes);

  // Of all updates so far. Asking does not end it.
  Sha256Digest Digest(size_t message) const;

 private:
  void KeepRest(size_t message, const void* data, size_t bytes);

  const bool instructions_;
  std::array<Sha256, 2> streams_;  // where there are no instructions
  uint32_t state_[2][8];
  std::array<uint64_t, 2> lengths_ = {};         // bytes
  std::array<std::array<uint8_t, 64>, 2> rest_;  // behind the whole blocks
};

}  // namespace lockstep

#endif  // DETERMINISM_SHA256_PAIR_H_
