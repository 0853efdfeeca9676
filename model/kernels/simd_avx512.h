// F32x16 of simd.h as one zmm. Include simd.h, not this.

#ifndef MODEL_KERNELS_SIMD_AVX512_H_
#define MODEL_KERNELS_SIMD_AVX512_H_

#include <immintrin.h>

#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/inline.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

struct F32x16 {
  __m512 v;
};

LS_MATH_INLINE F32x16 Broadcast(float value) { return {_mm512_set1_ps(value)}; }
LS_MATH_INLINE F32x16 Zero() { return {_mm512_setzero_ps()}; }

LS_MATH_INLINE __mmask16 FirstLanes(int64_t count) {
  return static_cast<__mmask16>((1u << count) - 1u);
}

LS_MATH_INLINE F32x16 WidenBF16(__m256i bits) {
  return {
      _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))};
}

// ToBF16 of dtype.h, sixteen at once.
LS_MATH_INLINE __m256i NarrowBF16(F32x16 value) {
  const __m512i bits = _mm512_castps_si512(value.v);
  const __m512i high = _mm512_srli_epi32(bits, 16);
  const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_srli_epi32(
      _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd),
      16);
  const __m512i quiet = _mm512_or_si512(high, _mm512_set1_epi32(0x40));
  const __mmask16 is_nan = _mm512_cmpgt_epi32_mask(
      _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff)),
      _mm512_set1_epi32(0x7f800000));
  return _mm512_cvtepi32_epi16(_mm512_mask_blend_epi32(is_nan, rounded, quiet));
}

LS_MATH_INLINE __m256i NarrowF16(F32x16 value) {
  return _mm512_cvtps_ph(value.v,
                         _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

LS_MATH_INLINE F32x16 Load(const float* from) {
  return {_mm512_loadu_ps(from)};
}
LS_MATH_INLINE F32x16 Load(const BF16* from) {
  return WidenBF16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
LS_MATH_INLINE F32x16 Load(const F16* from) {
  return {_mm512_cvtph_ps(
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)))};
}

LS_MATH_INLINE F32x16 LoadPartial(const float* from, int64_t count) {
  return {_mm512_maskz_loadu_ps(FirstLanes(count), from)};
}
LS_MATH_INLINE F32x16 LoadPartial(const BF16* from, int64_t count) {
  return WidenBF16(_mm256_maskz_loadu_epi16(FirstLanes(count), from));
}
LS_MATH_INLINE F32x16 LoadPartial(const F16* from, int64_t count) {
  return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(FirstLanes(count), from))};
}

LS_MATH_INLINE void Store(F32x16 value, float* to) {
  _mm512_storeu_ps(to, value.v);
}
LS_MATH_INLINE void Store(F32x16 value, BF16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), NarrowBF16(value));
}
LS_MATH_INLINE void Store(F32x16 value, F16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), NarrowF16(value));
}

LS_MATH_INLINE void StorePartial(F32x16 value, float* to, int64_t count) {
  _mm512_mask_storeu_ps(to, FirstLanes(count), value.v);
}
LS_MATH_INLINE void StorePartial(F32x16 value, BF16* to, int64_t count) {
  _mm256_mask_storeu_epi16(to, FirstLanes(count), NarrowBF16(value));
}
LS_MATH_INLINE void StorePartial(F32x16 value, F16* to, int64_t count) {
  _mm256_mask_storeu_epi16(to, FirstLanes(count), NarrowF16(value));
}

// a * b + c, rounded once.
LS_MATH_INLINE F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
LS_MATH_INLINE F32x16 Add(F32x16 a, F32x16 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
LS_MATH_INLINE F32x16 Sub(F32x16 a, F32x16 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
LS_MATH_INLINE F32x16 Mul(F32x16 a, F32x16 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}

// Within each 128-bit quarter: 4 x 4 transposes of four neighbouring rows.
LS_MATH_INLINE void TransposeQuarters(F32x16* rows) {
  const __m512 low01 = _mm512_unpacklo_ps(rows[0].v, rows[1].v);
  const __m512 high01 = _mm512_unpackhi_ps(rows[0].v, rows[1].v);
  const __m512 low23 = _mm512_unpacklo_ps(rows[2].v, rows[3].v);
  const __m512 high23 = _mm512_unpackhi_ps(rows[2].v, rows[3].v);
  rows[0].v = _mm512_shuffle_ps(low01, low23, 0x44);
  rows[1].v = _mm512_shuffle_ps(low01, low23, 0xee);
  rows[2].v = _mm512_shuffle_ps(high01, high23, 0x44);
  rows[3].v = _mm512_shuffle_ps(high01, high23, 0xee);
}

// rows[i] lane j <-> rows[j] lane i.
LS_MATH_INLINE void Transpose16x16(F32x16 (&rows)[16]) {
  for (int i = 0; i < 16; i += 4) TransposeQuarters(rows + i);
  // Quarter q of rows[4 p + i] goes to quarter p of rows[4 q + i].
  for (int i = 0; i < 4; ++i) {
    const __m512 r0 = rows[i].v, r1 = rows[4 + i].v;
    const __m512 r2 = rows[8 + i].v, r3 = rows[12 + i].v;
    const __m512 low01 = _mm512_shuffle_f32x4(r0, r1, 0x44);
    const __m512 high01 = _mm512_shuffle_f32x4(r0, r1, 0xee);
    const __m512 low23 = _mm512_shuffle_f32x4(r2, r3, 0x44);
    const __m512 high23 = _mm512_shuffle_f32x4(r2, r3, 0xee);
    rows[i].v = _mm512_shuffle_f32x4(low01, low23, 0x88);
    rows[4 + i].v = _mm512_shuffle_f32x4(low01, low23, 0xdd);
    rows[8 + i].v = _mm512_shuffle_f32x4(high01, high23, 0x88);
    rows[12 + i].v = _mm512_shuffle_f32x4(high01, high23, 0xdd);
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SIMD_AVX512_H_
