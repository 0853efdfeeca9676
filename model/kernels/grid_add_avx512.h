// GridAdd of grid_add.h with AVX-512. Include grid_add.h, not this.

#ifndef MODEL_KERNELS_GRID_ADD_AVX512_H_
#define MODEL_KERNELS_GRID_ADD_AVX512_H_

#include <immintrin.h>

#include <cstdint>

#include "determinism/inline.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

struct GridTally {
  __m512i largest = _mm512_setzero_si512();  // bits of |g|
  __m512i below = _mm512_setzero_si512();    // counts
};

LS_MATH_INLINE __m512i MagnitudeBits(F32x16 g) {
  return _mm512_and_si512(_mm512_castps_si512(g.v),
                          _mm512_set1_epi32(0x7fffffff));
}

LS_MATH_INLINE void TallyMaximum(F32x16 g, GridTally& tally) {
  tally.largest = _mm512_max_epu32(tally.largest, MagnitudeBits(g));
}

LS_MATH_INLINE void AddEight(__m256 g, const GridScale& scale, int64_t* q) {
  const __m512d scaled =
      _mm512_mul_pd(_mm512_cvtps_pd(g), _mm512_set1_pd(scale.factor));
  const __m512i sum =
      _mm512_add_epi64(_mm512_loadu_si512(q), _mm512_cvtpd_epi64(scaled));
  _mm512_storeu_si512(q, sum);
}

LS_MATH_INLINE void GridAdd(F32x16 g, const GridScale& scale, int64_t* q,
                            GridTally& tally) {
  const __m512i bits = MagnitudeBits(g);
  tally.largest = _mm512_max_epu32(tally.largest, bits);
  const __mmask16 below = _mm512_cmplt_epu32_mask(
      _mm512_sub_epi32(bits, _mm512_set1_epi32(kLeastNormal)),
      _mm512_set1_epi32(static_cast<int>(scale.below)));
  tally.below = _mm512_mask_sub_epi32(tally.below, below, tally.below,
                                      _mm512_set1_epi32(-1));
  const __mmask16 in_range = _mm512_cmplt_epu32_mask(
      bits, _mm512_set1_epi32(static_cast<int>(scale.range)));
  const __m512 kept = _mm512_maskz_mov_ps(in_range, g.v);
  AddEight(_mm512_castps512_ps256(kept), scale, q);
  AddEight(_mm512_extractf32x8_ps(kept, 1), scale, q + 8);
}

LS_MATH_INLINE void StoreTally(const GridTally& tally, uint32_t* largest,
                               uint32_t* below) {
  _mm512_storeu_si512(largest, tally.largest);
  _mm512_storeu_si512(below, tally.below);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_ADD_AVX512_H_
