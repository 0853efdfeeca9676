// SHA-256 of two messages of one length at a time.
//
// What it is: digests of blocks that do not depend on each other (data/,
// block_hash.h), by the CPU's SHA instructions where it has them and by OpenSSL
// where not. What it is not: a stream (sha256.h), or a hash of its own: the
// digests are those of FIPS 180-4. Why so: a round waits four cycles for the
// one before it, and a core can begin one every two; a second message fills the
// gap, and two take little longer than one (bench prepare).

#ifndef DETERMINISM_SHA256_PAIR_H_
#define DETERMINISM_SHA256_PAIR_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep {

using Sha256Digest = std::array<uint8_t, 32>;

// Whether this CPU has the instructions.
bool CpuHasSha256();

// The digests of the `bytes` bytes at `a` and at `b`, which may overlap. Tests
// turn the instructions off; on a CPU without them they are not to be asked for
// (LS_CHECK).
std::array<Sha256Digest, 2> Sha256Pair(const void* a, const void* b,
                                       size_t bytes,
                                       bool instructions = CpuHasSha256());

}  // namespace lockstep

#endif  // DETERMINISM_SHA256_PAIR_H_
