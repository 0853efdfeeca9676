// Sin and Cos of math.h; include that.
//
// In a file of their own for their argument reduction, which is exact integer
// arithmetic over the whole range (Payne and Hanek, "Radian Reduction for
// Trigonometric Functions", SIGNUM 1983): no domain to state, no branch, the
// same bits in scalar, vector and CUDA form. They serve Box-Muller, so their
// speed matters little.

#ifndef DETERMINISM_MATH_TRIG_H_
#define DETERMINISM_MATH_TRIG_H_

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {
namespace math {
namespace internal {

// |x| = quadrant * pi/2 + r + r_low, |r| <= pi/4, quadrant modulo 4.
struct ReducedAngle {
  uint32_t quadrant;
  float r;
  float r_low;
};

// 32 bits of 2/pi from bit `position` on, where bit 32 has the weight 1/2.
LS_MATH_INLINE uint32_t BitsOfTwoOverPi(uint32_t position) {
  constexpr uint32_t kWords[9] = {0,          0xa2f9836e, 0x4e441529,
                                  0xfc2757d1, 0xf534ddc0, 0xdb629599,
                                  0x3c439041, 0xfe5163ab, 0};
  const uint32_t word = position >> 5;
  const uint64_t pair = (uint64_t{kWords[word]} << 32) | kWords[word + 1];
  return static_cast<uint32_t>((pair << (position & 31u)) >> 32);
}

LS_MATH_INLINE ReducedAngle ReduceAngle(float x) {
  const uint32_t bits = BitCast<uint32_t>(x) & 0x7fffffffu;
  const uint32_t exponent = bits >> 23;
  const uint32_t significand = (bits & 0x7fffffu) | 0x800000u;
  // |x| = significand * 2^(exponent - 150). Bits of 2/pi that give multiples of
  // four quadrants are left out, the next 96 make the product modulo four.
  const uint32_t position = exponent < 120u ? 0u : exponent - 120u;
  const uint64_t low = uint64_t{BitsOfTwoOverPi(position + 64u)} * significand;
  const uint64_t middle =
      uint64_t{BitsOfTwoOverPi(position + 32u)} * significand + (low >> 32);
  const uint64_t high =
      uint64_t{BitsOfTwoOverPi(position)} * significand + (middle >> 32);
  const uint64_t quarters = (high << 32) | (middle & 0xffffffffu);
  // quarters counts 2^-62 quadrants; round to the nearest whole quadrant.
  const uint64_t quadrant = (quarters + (uint64_t{1} << 61)) >> 62;
  const int64_t rest = static_cast<int64_t>(quarters - (quadrant << 62));
  const double r = static_cast<double>(rest) * 0x1.921fb54442d18p-62;
  const float r_high = static_cast<float>(r);
  const float r_low = static_cast<float>(r - static_cast<double>(r_high));
  const bool is_small = bits < 0x3f490000u;  // below pi/4: nothing to reduce
  return ReducedAngle{is_small ? 0u : static_cast<uint32_t>(quadrant),
                      is_small ? __builtin_fabsf(x) : r_high,
                      is_small ? 0.0f : r_low};
}

LS_MATH_INLINE float SinReduced(float r, float r_low) {
  const float s = r * r;
  float p = -0x1.995400p-13f;
  p = __builtin_fmaf(p, s, 0x1.110778p-7f);
  p = __builtin_fmaf(p, s, -0x1.555546p-3f);
  return r + __builtin_fmaf(p, s * r, r_low);
}

LS_MATH_INLINE float CosReduced(float r, float r_low) {
  const float s = r * r;
  float p = 0x1.99e914p-16f;
  p = __builtin_fmaf(p, s, -0x1.6c0c2ap-10f);
  p = __builtin_fmaf(p, s, 0x1.55554ap-5f);
  // 1 - s/2 with the rounding error of the subtraction kept.
  const float half = 0.5f * s;
  const float head = 1.0f - half;
  const float error = (1.0f - head) - half;
  const float square_low = __builtin_fmaf(r, r, -s);
  const float low = __builtin_fmaf(-r, r_low, error - 0.5f * square_low);
  return head + __builtin_fmaf(p, s * s, low);
}

// Quadrant q holds sin, cos, -sin, -cos of the rest.
LS_MATH_INLINE float SinOfQuadrant(uint32_t quadrant, float r, float r_low) {
  const float sine = SinReduced(r, r_low);
  const float cosine = CosReduced(r, r_low);
  const float magnitude = (quadrant & 1u) != 0u ? cosine : sine;
  const uint32_t sign = (quadrant & 2u) << 30;
  return BitCast<float>(BitCast<uint32_t>(magnitude) ^ sign);
}

LS_MATH_INLINE bool IsFinite(float x) {
  return (BitCast<uint32_t>(x) & 0x7fffffffu) < 0x7f800000u;
}

}  // namespace internal

// Infinities give NaN.
LS_MATH_INLINE float Sin(float x) {
  const internal::ReducedAngle angle = internal::ReduceAngle(x);
  const float sine =
      internal::SinOfQuadrant(angle.quadrant, angle.r, angle.r_low);
  const uint32_t bits = BitCast<uint32_t>(x);
  const float value =
      BitCast<float>(BitCast<uint32_t>(sine) ^ (bits & 0x80000000u));
  const bool is_zero = (bits & 0x7fffffffu) < 0x00800000u;
  const float flushed = is_zero ? __builtin_copysignf(0.0f, x) : value;
  return internal::IsFinite(x) ? flushed : internal::NaN();
}

LS_MATH_INLINE float Cos(float x) {
  const internal::ReducedAngle angle = internal::ReduceAngle(x);
  const float value =
      internal::SinOfQuadrant(angle.quadrant + 1u, angle.r, angle.r_low);
  return internal::IsFinite(x) ? value : internal::NaN();
}

}  // namespace math
}  // namespace lockstep

#endif  // DETERMINISM_MATH_TRIG_H_
