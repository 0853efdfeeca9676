// A vector of 32-bit words, as fingerprint_kernel.cc uses it: the same dozen
// operations on eight words or sixteen. Private to that file, which is compiled
// once a level; names that exist at one level only.

#ifndef DETERMINISM_FINGERPRINT_VECTOR_H_
#define DETERMINISM_FINGERPRINT_VECTOR_H_

#include <cstdint>

#include "determinism/inline.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>

namespace lockstep::LOCKSTEP_ISA_NS {

#if defined(__AVX512F__)
struct Vector {
  __m512i words;
};
constexpr int kVectorWords = 16;

LS_MATH_INLINE Vector Load(const void* from) {
  return {_mm512_loadu_si512(from)};
}
LS_MATH_INLINE void Store(Vector v, void* to) {
  _mm512_storeu_si512(to, v.words);
}
// Past the caches; `to` is aligned. In no order with other stores but by Fence.
LS_MATH_INLINE void Stream(Vector v, void* to) {
  _mm512_stream_si512(static_cast<__m512i*>(to), v.words);
}
LS_MATH_INLINE Vector Same(uint32_t word) {
  return {_mm512_set1_epi32(static_cast<int>(word))};
}
LS_MATH_INLINE Vector Add32(Vector a, Vector b) {
  return {_mm512_add_epi32(a.words, b.words)};
}
LS_MATH_INLINE Vector Add64(Vector a, Vector b) {
  return {_mm512_add_epi64(a.words, b.words)};
}
LS_MATH_INLINE Vector Multiply32(Vector a, Vector b) {
  return {_mm512_mullo_epi32(a.words, b.words)};
}
// 64-bit products of the words at even places.
LS_MATH_INLINE Vector MultiplyEven(Vector a, Vector b) {
  return {_mm512_mul_epu32(a.words, b.words)};
}
// The words at odd places, at even ones.
LS_MATH_INLINE Vector Odd(Vector a) { return {_mm512_srli_epi64(a.words, 32)}; }
LS_MATH_INLINE Vector Or(Vector a, Vector b) {
  return {_mm512_or_si512(a.words, b.words)};
}
// a ^ a >> kBits.
template <int kBits>
LS_MATH_INLINE Vector XorShift(Vector a) {
  return {_mm512_xor_si512(a.words, _mm512_srli_epi32(a.words, kBits))};
}
#else
struct Vector {
  __m256i words;
};
constexpr int kVectorWords = 8;

LS_MATH_INLINE Vector Load(const void* from) {
  return {_mm256_loadu_si256(static_cast<const __m256i*>(from))};
}
LS_MATH_INLINE void Store(Vector v, void* to) {
  _mm256_storeu_si256(static_cast<__m256i*>(to), v.words);
}
LS_MATH_INLINE void Stream(Vector v, void* to) {
  _mm256_stream_si256(static_cast<__m256i*>(to), v.words);
}
LS_MATH_INLINE Vector Same(uint32_t word) {
  return {_mm256_set1_epi32(static_cast<int>(word))};
}
LS_MATH_INLINE Vector Add32(Vector a, Vector b) {
  return {_mm256_add_epi32(a.words, b.words)};
}
LS_MATH_INLINE Vector Add64(Vector a, Vector b) {
  return {_mm256_add_epi64(a.words, b.words)};
}
LS_MATH_INLINE Vector Multiply32(Vector a, Vector b) {
  return {_mm256_mullo_epi32(a.words, b.words)};
}
LS_MATH_INLINE Vector MultiplyEven(Vector a, Vector b) {
  return {_mm256_mul_epu32(a.words, b.words)};
}
LS_MATH_INLINE Vector Odd(Vector a) { return {_mm256_srli_epi64(a.words, 32)}; }
LS_MATH_INLINE Vector Or(Vector a, Vector b) {
  return {_mm256_or_si256(a.words, b.words)};
}
template <int kBits>
LS_MATH_INLINE Vector XorShift(Vector a) {
  return {_mm256_xor_si256(a.words, _mm256_srli_epi32(a.words, kBits))};
}
#endif

LS_MATH_INLINE void Fence() { _mm_sfence(); }

}  // namespace lockstep::LOCKSTEP_ISA_NS

#endif  // a level with vectors

#endif  // DETERMINISM_FINGERPRINT_VECTOR_H_
