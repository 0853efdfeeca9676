// F32x16 of simd.h as two ymm. Include simd.h, not this.

#ifndef MODEL_KERNELS_SIMD_AVX2_H_
#define MODEL_KERNELS_SIMD_AVX2_H_

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "determinism/dtype.h"
#include "determinism/inline.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

struct F32x16 {
  __m256 low;   // lanes 0 to 7
  __m256 high;  // lanes 8 to 15
};

LS_MATH_INLINE F32x16 Broadcast(float value) {
  const __m256 v = _mm256_set1_ps(value);
  return {v, v};
}
LS_MATH_INLINE F32x16 Zero() {
  return {_mm256_setzero_ps(), _mm256_setzero_ps()};
}

LS_MATH_INLINE __m256 WidenBF16(__m128i bits) {
  return _mm256_castsi256_ps(
      _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

// ToBF16 of dtype.h, eight at once, each in the low half of its lane.
LS_MATH_INLINE __m256i RoundedBF16(__m256 value) {
  const __m256i bits = _mm256_castps_si256(value);
  const __m256i high = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(
      _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd),
      16);
  const __m256i quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
  const __m256i is_nan =
      _mm256_cmpgt_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x7fffffff)),
                         _mm256_set1_epi32(0x7f800000));
  return _mm256_blendv_epi8(rounded, quiet, is_nan);
}

LS_MATH_INLINE __m256i NarrowBF16(F32x16 value) {
  // The pack works within 128-bit halves; the permutation undoes that.
  const __m256i packed =
      _mm256_packus_epi32(RoundedBF16(value.low), RoundedBF16(value.high));
  return _mm256_permute4x64_epi64(packed, 0xd8);
}

LS_MATH_INLINE __m256i NarrowF16(F32x16 value) {
  constexpr int kRound = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return _mm256_set_m128i(_mm256_cvtps_ph(value.high, kRound),
                          _mm256_cvtps_ph(value.low, kRound));
}

LS_MATH_INLINE __m128i Load8x16Bits(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

LS_MATH_INLINE F32x16 Load(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
LS_MATH_INLINE F32x16 Load(const BF16* from) {
  return {WidenBF16(Load8x16Bits(from)), WidenBF16(Load8x16Bits(from + 8))};
}
LS_MATH_INLINE F32x16 Load(const F16* from) {
  return {_mm256_cvtph_ps(Load8x16Bits(from)),
          _mm256_cvtph_ps(Load8x16Bits(from + 8))};
}

LS_MATH_INLINE void Store(F32x16 value, float* to) {
  _mm256_storeu_ps(to, value.low);
  _mm256_storeu_ps(to + 8, value.high);
}
LS_MATH_INLINE void Store(F32x16 value, BF16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), NarrowBF16(value));
}
LS_MATH_INLINE void Store(F32x16 value, F16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), NarrowF16(value));
}

template <class T>
LS_MATH_INLINE F32x16 LoadPartial(const T* from, int64_t count) {
  T lanes[16] = {};
  std::memcpy(lanes, from, count * sizeof(T));
  return Load(lanes);
}
template <class T>
LS_MATH_INLINE void StorePartial(F32x16 value, T* to, int64_t count) {
  T lanes[16];
  Store(value, lanes);
  std::memcpy(to, lanes, count * sizeof(T));
}

// a * b + c, rounded once.
LS_MATH_INLINE F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low),
          _mm256_fmadd_ps(a.high, b.high, c.high)};
}
LS_MATH_INLINE F32x16 Add(F32x16 a, F32x16 b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
LS_MATH_INLINE F32x16 Sub(F32x16 a, F32x16 b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
LS_MATH_INLINE F32x16 Mul(F32x16 a, F32x16 b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

LS_MATH_INLINE void Transpose8x8(__m256 (&r)[8]) {
  __m256 t[8];
  for (int i = 0; i < 8; i += 4) {  // 4 x 4 within each 128-bit half
    const __m256 low01 = _mm256_unpacklo_ps(r[i], r[i + 1]);
    const __m256 high01 = _mm256_unpackhi_ps(r[i], r[i + 1]);
    const __m256 low23 = _mm256_unpacklo_ps(r[i + 2], r[i + 3]);
    const __m256 high23 = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = _mm256_shuffle_ps(low01, low23, 0x44);
    t[i + 1] = _mm256_shuffle_ps(low01, low23, 0xee);
    t[i + 2] = _mm256_shuffle_ps(high01, high23, 0x44);
    t[i + 3] = _mm256_shuffle_ps(high01, high23, 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], 0x31);
  }
}

// rows[i] lane j <-> rows[j] lane i.
LS_MATH_INLINE void Transpose16x16(F32x16 (&rows)[16]) {
  __m256 a[8], b[8], c[8], d[8];  // [a b; c d] -> [a' c'; b' d']
  for (int i = 0; i < 8; ++i) {
    a[i] = rows[i].low;
    b[i] = rows[i].high;
    c[i] = rows[8 + i].low;
    d[i] = rows[8 + i].high;
  }
  Transpose8x8(a);
  Transpose8x8(b);
  Transpose8x8(c);
  Transpose8x8(d);
  for (int i = 0; i < 8; ++i) {
    rows[i] = {a[i], c[i]};
    rows[8 + i] = {b[i], d[i]};
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SIMD_AVX2_H_
