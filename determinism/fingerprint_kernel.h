// The inner loop of fingerprint.h, at each instruction set level.
//
// Not for callers of fingerprints: FingerprintBytes chooses the level and deals
// with cuts and with the upper half of the index. Tensors that are read at one
// place share their keys, which cost more than the products with them; hence
// several at a time (fingerprint_pieces.h).

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

// c_lane is added before the mixing: xor afterwards would make both lanes
// collide together. The two are the first 64 bits of the fractional part of
// sqrt(2).
LS_MATH_INLINE uint32_t LaneConstant(int lane) {
  return lane == 0 ? 0x6a09e667u : 0xf3bcc909u;
}

// k_i of one lane; `high_mixed` is Fmix32(hi32(i)).
LS_MATH_INLINE uint32_t KeyOf(uint32_t low, uint32_t high_mixed, int lane) {
  return Fmix32(low + LaneConstant(lane) + high_mixed) | 1u;
}

constexpr int kMostTogether = 4;  // not inline: -fno-weak refuses that

// Words of 1 to kMostTogether tensors at one place.
struct Words {
  const unsigned char* const* data;  // [tensors], any alignment
  int tensors;
  int64_t count;
  // The words have the lower halves first, first + 1, ... of an index, and one
  // upper half, whose Fmix32 is high_mixed.
  uint32_t first;
  uint32_t high_mixed;
  // Where the words are copied to on the way, past the caches; null: nowhere.
  // [tensors], each 64-byte aligned.
  unsigned char* const* copies = nullptr;
};

// Adds to lanes[t] the shares of tensor t.
using AddWords = void (*)(const Words& words, uint64_t (*lanes)[2]);

}  // namespace fingerprint_internal

namespace scalar {
void FingerprintWords(const fingerprint_internal::Words& words,
                      uint64_t (*lanes)[2]);
}  // namespace scalar
namespace avx2 {
void FingerprintWords(const fingerprint_internal::Words& words,
                      uint64_t (*lanes)[2]);
}  // namespace avx2
namespace avx512 {
void FingerprintWords(const fingerprint_internal::Words& words,
                      uint64_t (*lanes)[2]);
}  // namespace avx512

}  // namespace lockstep

#endif  // DETERMINISM_FINGERPRINT_KERNEL_H_
