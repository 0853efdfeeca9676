// Sixteen leaf entries rounded to the integer grid of N5 and added, with their
// statistics: the innermost step of the product's I64 epilogue and of
// grid_accumulate.
//
// For *_kernel.cc files, under ScopedFloatEnv. The product g * 2^e is exact in
// binary64 (24 bits, no overflow for |e| <= 512), so the conversion's rounding
// is the only one. What is out of range is masked away before it, by comparing
// bits: the conversion instructions return INT64_MIN there without a word.
// Statistics are integers on the bits of |g|, whose order is that of the
// magnitudes with NaN on top, so they do not depend on the order of visits.

#ifndef MODEL_KERNELS_GRID_ADD_H_
#define MODEL_KERNELS_GRID_ADD_H_

#include <algorithm>
#include <cstdint>

#include "determinism/inline.h"
#include "model/kernels/grid.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// The least bits of a normal number, and of those that are not finite.
constexpr uint32_t kLeastNormal = 0x00800000u;
constexpr uint32_t kInfinityBits = 0x7f800000u;

// 2^exponent as binary32 bits, clamped to what lies in between.
static inline uint32_t PowerOfTwoBits(int exponent) {
  if (exponent < -126) return kLeastNormal;
  if (exponent > 127) return kInfinityBits;
  return static_cast<uint32_t>(exponent + 127) << 23;
}

// An exponent e as the comparisons and the product want it.
struct GridScale {
  explicit GridScale(int exponent)
      : factor(BitCast<double>(static_cast<uint64_t>(exponent + 1023) << 52)),
        range(PowerOfTwoBits(62 - exponent)) {
    // 0 < |g| <= 2^(-1-e): halves go to even, which is 0.
    if (-1 - exponent >= -126) {
      below = std::min(PowerOfTwoBits(-1 - exponent) + 1, kInfinityBits) -
              kLeastNormal;
    }
  }

  double factor;
  uint32_t range;      // adds something: bits of |g| below this
  uint32_t below = 0;  // falls below the grid: bits - kLeastNormal below this
};

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#if defined(__AVX512F__)
#include "model/kernels/grid_add_avx512.h"
#elif defined(__AVX2__)
#include "model/kernels/grid_add_avx2.h"
#else
#include "model/kernels/grid_add_scalar.h"
#endif

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// A tally counts in 32 bits a lane: fold it every so often.
constexpr int64_t kMostTallied = int64_t{1} << 30;

// q[i] += RNE(g[i] * factor) for i < count; q = nullptr: the maximum alone.
static inline void GridAddRow(const float* g, int64_t count,
                              const GridScale& scale, int64_t* q,
                              GridTally& tally) {
  int64_t i = 0;
  if (q == nullptr) {
    for (; i < count; i += kLanes) {
      TallyMaximum(LoadUpTo(g + i, count - i), tally);
    }
    return;
  }
  for (; i + kLanes <= count; i += kLanes) {
    GridAdd(Load(g + i), scale, q + i, tally);
  }
  if (i < count) {
    int64_t tail[kLanes] = {};
    GridAdd(LoadPartial(g + i, count - i), scale, tail, tally);
    for (int64_t j = 0; i + j < count; ++j) {
      q[i + j] = static_cast<int64_t>(static_cast<uint64_t>(q[i + j]) +
                                      static_cast<uint64_t>(tail[j]));
    }
  }
}

// Merges the tally into `stats` and clears it.
static inline void FoldTally(GridTally& tally, GridStats& stats) {
  uint32_t largest[kLanes];
  uint32_t below[kLanes];
  StoreTally(tally, largest, below);
  GridStats seen;
  uint32_t bits = 0;
  for (int64_t i = 0; i < kLanes; ++i) {
    bits = std::max(bits, largest[i]);
    seen.below_grid += below[i];
  }
  if (bits >= kLeastNormal) {
    seen.max_abs = BitCast<float>(std::min(bits, kInfinityBits));
  }
  stats.Merge(seen);
  tally = GridTally();
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_ADD_H_
