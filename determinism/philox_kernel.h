// The arithmetic of philox.h at each instruction set level.
//
// Not for callers of random numbers: philox.h deals with positions.

#ifndef DETERMINISM_PHILOX_KERNEL_H_
#define DETERMINISM_PHILOX_KERNEL_H_

#include <cstdint>

#include "determinism/inline.h"
#include "determinism/math.h"

namespace lockstep {
namespace philox_internal {

// Ten rounds; the multipliers and Weyl constants are those of Philox4x32
// (Salmon et al. 2011, section 4).
LS_MATH_INLINE void Rounds(uint32_t (&c)[4], uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xd2511f53u} * c[0];
    const uint64_t product1 = uint64_t{0xcd9e8d57u} * c[2];
    c[0] = static_cast<uint32_t>(product1 >> 32) ^ c[1] ^ k0;
    c[2] = static_cast<uint32_t>(product0 >> 32) ^ c[3] ^ k1;
    c[1] = static_cast<uint32_t>(product1);
    c[3] = static_cast<uint32_t>(product0);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
}

// 24 bits as a multiple of 2^-24 in [0, 1).
LS_MATH_INLINE float UniformOf(uint32_t bits) {
  return static_cast<float>(static_cast<int32_t>(bits >> 8)) * 0x1p-24f;
}

// Box and Muller's radius from a lane pair's first word, u1 in (0, 1].
LS_MATH_INLINE float RadiusOf(uint32_t bits) {
  const float u1 = UniformOf(bits) + 0x1p-24f;  // exact
  return __builtin_sqrtf(-2.0f * math::Log(u1));
}

// And the angle in [0, 2 pi) from the second.
LS_MATH_INLINE float AngleOf(uint32_t bits) {
  return UniformOf(bits) * 0x1.921fb6p+2f;
}

}  // namespace philox_internal

// Counter words 0 and 1 as a number, words 2 and 3 as another.
struct PhiloxCounter {
  uint64_t low;
  uint64_t high;
};

struct PhiloxKernels {
  // out[4 q + lane] for the counters low + q; `low` must not overflow.
  void (*blocks)(const PhiloxCounter& first, uint64_t seed, int64_t count,
                 uint32_t* out);
  // The four normals of each block of four words.
  void (*normals)(const uint32_t* blocks, int64_t count, float* out);
};

namespace scalar {
PhiloxKernels Philox();
}  // namespace scalar
namespace avx2 {
PhiloxKernels Philox();
}  // namespace avx2
namespace avx512 {
PhiloxKernels Philox();
}  // namespace avx512

}  // namespace lockstep

#endif  // DETERMINISM_PHILOX_KERNEL_H_
