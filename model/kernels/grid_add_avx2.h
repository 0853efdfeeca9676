// GridAdd of grid_add.h with AVX2. Include grid_add.h, not this.

#ifndef MODEL_KERNELS_GRID_ADD_AVX2_H_
#define MODEL_KERNELS_GRID_ADD_AVX2_H_

#include <immintrin.h>

#include <cstdint>

#include "determinism/inline.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

struct GridTally {
  __m256i largest[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  __m256i below[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
};

LS_MATH_INLINE __m256i MagnitudeBits(__m256 g) {
  return _mm256_and_si256(_mm256_castps_si256(g),
                          _mm256_set1_epi32(0x7fffffff));
}

LS_MATH_INLINE void TallyMaximum(F32x16 g, GridTally& tally) {
  tally.largest[0] = _mm256_max_epu32(tally.largest[0], MagnitudeBits(g.low));
  tally.largest[1] = _mm256_max_epu32(tally.largest[1], MagnitudeBits(g.high));
}

// RNE of four values below 2^62 whose significands have 24 bits. AVX2 has no
// such conversion: below 2^51, 1.5 * 2^52 is added, and the integer stands in
// the low bits of the sum. What is larger is a multiple of 2^28: divided by it
// exactly, converted likewise, and shifted back.
LS_MATH_INLINE __m256i ToInt64(__m256d value) {
  const __m256d magic = _mm256_set1_pd(0x1.8p52);
  const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), value);
  const __m256d is_large =
      _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p51), _CMP_GE_OQ);
  const __m256d divided = _mm256_blendv_pd(
      value, _mm256_mul_pd(value, _mm256_set1_pd(0x1p-28)), is_large);
  const __m256i integer =
      _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(divided, magic)),
                       _mm256_castpd_si256(magic));
  const __m256i shift =
      _mm256_and_si256(_mm256_castpd_si256(is_large), _mm256_set1_epi64x(28));
  return _mm256_sllv_epi64(integer, shift);
}

LS_MATH_INLINE void AddFour(__m128 g, const GridScale& scale, int64_t* q) {
  const __m256d scaled =
      _mm256_mul_pd(_mm256_cvtps_pd(g), _mm256_set1_pd(scale.factor));
  __m256i* at = reinterpret_cast<__m256i*>(q);
  _mm256_storeu_si256(
      at, _mm256_add_epi64(_mm256_loadu_si256(at), ToInt64(scaled)));
}

LS_MATH_INLINE void AddEight(__m256 g, const GridScale& scale, int64_t* q,
                             __m256i& largest, __m256i& below) {
  const __m256i bits = MagnitudeBits(g);
  largest = _mm256_max_epu32(largest, bits);
  const __m256i offset =
      _mm256_sub_epi32(bits, _mm256_set1_epi32(kLeastNormal));
  const __m256i limit = _mm256_set1_epi32(static_cast<int>(scale.below));
  const __m256i not_below =  // all ones where offset >= limit, unsigned
      _mm256_cmpeq_epi32(_mm256_max_epu32(offset, limit), offset);
  below = _mm256_add_epi32(below,
                           _mm256_add_epi32(_mm256_set1_epi32(1), not_below));
  // Both sides are below 2^31.
  const __m256i in_range = _mm256_cmpgt_epi32(
      _mm256_set1_epi32(static_cast<int>(scale.range)), bits);
  const __m256 kept = _mm256_and_ps(g, _mm256_castsi256_ps(in_range));
  AddFour(_mm256_castps256_ps128(kept), scale, q);
  AddFour(_mm256_extractf128_ps(kept, 1), scale, q + 4);
}

LS_MATH_INLINE void GridAdd(F32x16 g, const GridScale& scale, int64_t* q,
                            GridTally& tally) {
  AddEight(g.low, scale, q, tally.largest[0], tally.below[0]);
  AddEight(g.high, scale, q + 8, tally.largest[1], tally.below[1]);
}

LS_MATH_INLINE void StoreTally(const GridTally& tally, uint32_t* largest,
                               uint32_t* below) {
  for (int i = 0; i < 2; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(largest + 8 * i),
                        tally.largest[i]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(below + 8 * i),
                        tally.below[i]);
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_ADD_AVX2_H_
