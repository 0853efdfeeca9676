// The inner loop of fingerprint.h, at each instruction set level.
//
// Not for callers of fingerprints: FingerprintBytes chooses the level and deals
// with cuts and with the upper half of the index.

#ifndef DETERMINISM_FINGERPRINT_KERNEL_H_
#define DETERMINISM_FINGERPRINT_KERNEL_H_

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {
namespace fingerprint_internal {

// Finaliser of MurmurHash3_x86_32 (Appleby), a bijection.
LS_MATH_INLINE uint32_t Fmix32(uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  h ^= h >> 16;
  return h;
}

// k_i of one lane; `high_mixed` is Fmix32(hi32(i)). c_lane is added before the
// mixing: xor afterwards would make both lanes collide together. The two are
// the first 64 bits of the fractional part of sqrt(2).
LS_MATH_INLINE uint32_t KeyOf(uint32_t low, uint32_t high_mixed, int lane) {
  const uint32_t c_lane = lane == 0 ? 0x6a09e667u : 0xf3bcc909u;
  return Fmix32(low + c_lane + high_mixed) | 1u;
}

// Adds to lanes[2] the words at data (any alignment), whose indices have the
// lower halves first, first + 1, ... and one upper half.
using AddWords = void (*)(const unsigned char* data, int64_t count,
                          uint32_t first, uint32_t high_mixed, uint64_t* lanes);

}  // namespace fingerprint_internal

namespace scalar {
void FingerprintWords(const unsigned char* data, int64_t count, uint32_t first,
                      uint32_t high_mixed, uint64_t* lanes);
}  // namespace scalar
namespace avx2 {
void FingerprintWords(const unsigned char* data, int64_t count, uint32_t first,
                      uint32_t high_mixed, uint64_t* lanes);
}  // namespace avx2
namespace avx512 {
void FingerprintWords(const unsigned char* data, int64_t count, uint32_t first,
                      uint32_t high_mixed, uint64_t* lanes);
}  // namespace avx512

}  // namespace lockstep

#endif  // DETERMINISM_FINGERPRINT_KERNEL_H_
