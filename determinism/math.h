// Elementary functions of binary32: one source, the same bits everywhere (N8).
//
// The only such functions that may feed state; libm's change with the CPU. Each
// is branch-free: fused multiply-adds, correctly rounded operations, integer
// work on the bits and selections, so that a plain loop around a call is
// vectorised at every level of lockstep_isa_library (and compiled by nvcc)
// without a changed bit. Under the environment of N2 (float_env.h): subnormal
// arguments count as zero, results below 2^-126 are zero. NaN gives NaN;
// every binary32 is in the domain. Errors and monotonicity: MATH.md. The
// coefficients come from math_coefficients.py. Not for binary64: math64.h.

#ifndef DETERMINISM_MATH_H_
#define DETERMINISM_MATH_H_

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {
namespace math {
namespace internal {

constexpr float kInfinity = __builtin_inff();
constexpr float kSmallestNormal = 0x1p-126f;
constexpr float kLn2 = 0x1.62e430p-1f;
constexpr float kLn2Low = -0x1.05c610p-29f;

// A quiet NaN of fixed bits, since 0/0 differs between CPU and GPU.
LS_MATH_INLINE float NaN() { return BitCast<float>(0x7fc00000u); }

// 2^n for n in [-126, 127]. Unsigned here and below, since arguments outside a
// function's range go the same way before they are replaced, and may wrap.
LS_MATH_INLINE float PowerOfTwo(int32_t n) {
  return BitCast<float>((static_cast<uint32_t>(n) + 127u) << 23);
}

// The exponent, still in its place, that scales by 2^-e a number with these
// bits into the octave that begins at `lowest_bits`; and that e.
LS_MATH_INLINE uint32_t ExponentAbove(uint32_t bits, uint32_t lowest_bits) {
  return (bits - lowest_bits) & 0xff800000u;
}
LS_MATH_INLINE float ExponentValue(uint32_t exponent) {
  return static_cast<float>(static_cast<int32_t>(exponent) >> 23);
}

// e^x for x in [-87.3, 88.8]; elsewhere some value or other, NaN for NaN.
// n = round(x / ln 2), r = x - n ln 2, e^r = 1 + (r + r^2 q(r)), where r is
// used in two parts lest its own rounding count.
LS_MATH_INLINE float ExpInRange(float x) {
  // Adding 1.5 * 2^23 leaves the rounded quotient in the lowest bits.
  const float shifted = __builtin_fmaf(x, 0x1.715476p+0f, 0x1.8p+23f);
  const auto n = static_cast<int32_t>(BitCast<uint32_t>(shifted) - 0x4b400000u);
  const float n_float = shifted - 0x1.8p+23f;
  const float r_high = __builtin_fmaf(n_float, -kLn2, x);  // exact
  const float r_low = n_float * -kLn2Low;
  const float r = r_high + r_low;
  float q = 0x1.6a505cp-10f;
  q = __builtin_fmaf(q, r, 0x1.12397ep-7f);
  q = __builtin_fmaf(q, r, 0x1.5558aep-5f);
  q = __builtin_fmaf(q, r, 0x1.555492p-3f);
  q = __builtin_fmaf(q, r, 0x1.fffffcp-2f);
  const float y = 1.0f + (r_high + __builtin_fmaf(q, r * r, r_low));
  // Two factors, since n = 128 is no exponent of a binary32.
  const int32_t half = n >> 1;
  return y * PowerOfTwo(half) * PowerOfTwo(n - half);
}

// (log(1 + f) - f) / f^2 for f in [-1/3, 1/3].
LS_MATH_INLINE float LogTail(float f) {
  const float s = f * f;
  float odd = 0x1.1e7308p-3f;
  float even = -0x1.07bf1ap-3f;
  even = __builtin_fmaf(even, s, -0x1.f33354p-4f);
  odd = __builtin_fmaf(odd, s, 0x1.1ed424p-3f);
  even = __builtin_fmaf(even, s, -0x1.559c82p-3f);
  odd = __builtin_fmaf(odd, s, 0x1.99d05ep-3f);
  even = __builtin_fmaf(even, s, -0x1.fffef8p-3f);
  float tail = __builtin_fmaf(odd, f, even);
  tail = __builtin_fmaf(tail, f, 0x1.555506p-2f);
  return __builtin_fmaf(tail, f, -0.5f);
}

// The same for f in [-1/4, 1/2].
LS_MATH_INLINE float Log1pTail(float f) {
  const float s = f * f;
  float odd = 0x1.5268d8p-5f;
  float even = -0x1.8d0418p-4f;
  odd = __builtin_fmaf(odd, s, 0x1.eaa7dcp-4f);
  even = __builtin_fmaf(even, s, -0x1.04ab8ep-3f);
  odd = __builtin_fmaf(odd, s, 0x1.23afa8p-3f);
  even = __builtin_fmaf(even, s, -0x1.54fb82p-3f);
  float tail = __builtin_fmaf(odd, f, even);
  tail = __builtin_fmaf(tail, f, 0x1.999d36p-3f);
  tail = __builtin_fmaf(tail, f, -0x1.000124p-2f);
  tail = __builtin_fmaf(tail, f, 0x1.555554p-2f);
  return __builtin_fmaf(tail, f, -0x1.fffffep-2f);
}

}  // namespace internal

// The thresholds are where the true value, rounded, leaves the normal numbers.
LS_MATH_INLINE float Exp(float x) {
  const float inside = internal::ExpInRange(x);
  const float above = x > 0x1.62e42ep+6f ? internal::kInfinity : inside;
  return x < -0x1.5d589ep+6f ? 0.0f : above;
}

// x = m 2^e with m in [2/3, 4/3), log x = e ln 2 + log m.
LS_MATH_INLINE float Log(float x) {
  const uint32_t bits = BitCast<uint32_t>(x);
  const uint32_t exponent = internal::ExponentAbove(bits, 0x3f2aaaabu);
  const float f = BitCast<float>(bits - exponent) - 1.0f;
  const float e = internal::ExponentValue(exponent);
  const float log_m = __builtin_fmaf(internal::LogTail(f), f * f, f);
  const float finite = __builtin_fmaf(e, internal::kLn2, log_m);
  const float positive = x < internal::kInfinity ? finite : x;  // Inf, NaN
  const float or_nan = x < 0.0f ? internal::NaN() : positive;
  // A negative subnormal is -0 under N2, whose logarithm is -infinity too.
  const bool is_zero = (bits & 0x7fffffffu) < 0x00800000u;
  return is_zero ? -internal::kInfinity : or_nan;
}

// 1 + x = m 2^e with m in [3/4, 3/2); f = m - 1 is built from x itself, so that
// what 1 + x rounds away is not lost. Only e comes from the sum, which for x >
// 0 is taken a little short: rounded up to 3/2 it would give an f below -1/4,
// where f is no longer exact.
LS_MATH_INLINE float Log1p(float x) {
  const uint32_t bits = BitCast<uint32_t>(x);
  const float one = x > 0.0f ? 0x1.fffffep-1f : 1.0f;
  const uint32_t exponent =
      internal::ExponentAbove(BitCast<uint32_t>(one + x), 0x3f400000u);
  const float scaled_x = BitCast<float>(bits - exponent);
  const float scaled_4 = BitCast<float>(0x40800000u - exponent);
  const float f = scaled_x + __builtin_fmaf(0.25f, scaled_4, -1.0f);
  const float e = internal::ExponentValue(exponent);
  const float log_m = __builtin_fmaf(internal::Log1pTail(f), f * f, f);
  const float finite = __builtin_fmaf(e, internal::kLn2, log_m);
  const float positive = x < internal::kInfinity ? finite : x;  // Inf, NaN
  const float above = x > -1.0f ? positive : -internal::kInfinity;
  const float or_nan = x < -1.0f ? internal::NaN() : above;
  const float or_x = x != x ? x : or_nan;
  const bool is_zero = (bits & 0x7fffffffu) < 0x00800000u;
  return is_zero ? __builtin_copysignf(0.0f, x) : or_x;
}

// Rising like its parts, each of which is: Exp, the sum and the quotient. Below
// -88.7 the exponential is infinite and the quotient 0, as it should be.
LS_MATH_INLINE float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

// log(1 + e^v), and v itself above 20, where the rest is below half an ulp.
LS_MATH_INLINE float Softplus(float v) {
  const float inside = Log1p(Exp(v));
  return v > 20.0f ? v : inside;
}

// Below 0.625 an odd polynomial, from there on 1 - 2 / (e^2|x| + 1).
LS_MATH_INLINE float Tanh(float x) {
  const float a = __builtin_fabsf(x);
  // tanh rounds to 1 from 9.02 on; the clamp keeps e^2a in range, NaN passes.
  const float clamped = a > 10.0f ? 10.0f : a;
  const float large =
      1.0f - 2.0f / (internal::ExpInRange(2.0f * clamped) + 1.0f);
  const float s = x * x;
  float p = 0x1.1a4660p-9f;
  p = __builtin_fmaf(p, s, -0x1.0c64eap-7f);
  p = __builtin_fmaf(p, s, 0x1.63a618p-6f);
  p = __builtin_fmaf(p, s, -0x1.b9f190p-5f);
  p = __builtin_fmaf(p, s, 0x1.11107ap-3f);
  p = __builtin_fmaf(p, s, -0x1.555554p-2f);
  const float small = __builtin_fmaf(p, s * a, a);
  const float magnitude = a < 0.625f ? small : large;
  const float normal = a < internal::kSmallestNormal ? 0.0f : magnitude;
  return __builtin_copysignf(normal, x);
}

// Two correctly rounded operations. Rsqrt(+-0) = +-Inf, negative: NaN.
LS_MATH_INLINE float Rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }

}  // namespace math
}  // namespace lockstep

#include "determinism/math_trig.h"  // Sin, Cos

#endif  // DETERMINISM_MATH_H_
