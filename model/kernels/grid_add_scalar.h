// GridAdd of grid_add.h one entry at a time. Include grid_add.h, not this.

#ifndef MODEL_KERNELS_GRID_ADD_SCALAR_H_
#define MODEL_KERNELS_GRID_ADD_SCALAR_H_

#include <emmintrin.h>

#include <algorithm>
#include <cstdint>

#include "determinism/inline.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

struct GridTally {
  uint32_t largest[16] = {};  // bits of |g|
  uint32_t below[16] = {};    // counts
};

LS_MATH_INLINE uint32_t MagnitudeBits(float g) {
  return BitCast<uint32_t>(g) & 0x7fffffffu;
}

LS_MATH_INLINE void TallyMaximum(F32x16 g, GridTally& tally) {
  for (int i = 0; i < 16; ++i) {
    tally.largest[i] = std::max(tally.largest[i], MagnitudeBits(g.lane[i]));
  }
}

LS_MATH_INLINE void GridAdd(F32x16 g, const GridScale& scale, int64_t* q,
                            GridTally& tally) {
  TallyMaximum(g, tally);
  for (int i = 0; i < 16; ++i) {
    const uint32_t bits = MagnitudeBits(g.lane[i]);
    tally.below[i] += bits - kLeastNormal < scale.below ? 1 : 0;
    if (bits >= scale.range) continue;
    // CVTSD2SI rounds as MXCSR says: to nearest even (N2).
    const double scaled = static_cast<double>(g.lane[i]) * scale.factor;
    const int64_t rounded = _mm_cvtsd_si64(_mm_set_sd(scaled));
    q[i] = static_cast<int64_t>(static_cast<uint64_t>(q[i]) +
                                static_cast<uint64_t>(rounded));
  }
}

LS_MATH_INLINE void StoreTally(const GridTally& tally, uint32_t* largest,
                               uint32_t* below) {
  std::copy_n(tally.largest, 16, largest);
  std::copy_n(tally.below, 16, below);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_ADD_SCALAR_H_
