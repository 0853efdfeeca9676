// Kinds of numbers that break kernels, for tests of any operation.
//
// What it is: one list of regimes, and draws from them. What it is not: the
// inputs of a model, or of a self check (self_check.h). Why so: the numbers
// that found a fault in one operation are owed to all of them.

#ifndef MODEL_KERNELS_REGIMES_H_
#define MODEL_KERNELS_REGIMES_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace lockstep {

enum class Regime {
  kUniform,     // (-1, 1)
  kCancelling,  // signs and magnitudes from 2^-20 to 2^20
  kSubnormal,   // products and sums around the smallest normal number
  kHuge,        // overflow to Inf, and then NaN
  kZeros,       // mostly +0 and -0
  kSpecial,     // some Inf and NaN
  kAnyBits,
};
inline constexpr Regime kAllRegimes[] = {
    Regime::kUniform, Regime::kCancelling, Regime::kSubnormal, Regime::kHuge,
    Regime::kZeros,   Regime::kSpecial,    Regime::kAnyBits};
inline constexpr int kRegimes = 7;

inline const char* NameOf(Regime regime) {
  constexpr const char* kNames[kRegimes] = {
      "uniform", "cancelling", "subnormal", "huge",
      "zeros",   "special",    "any bits"};
  return kNames[static_cast<int>(regime)];
}

inline float NextValue(Regime regime, std::mt19937& random) {
  const uint32_t bits = random();
  const float sign = bits & 1 ? -1.0f : 1.0f;
  const float unit = static_cast<float>(bits >> 8) * 0x1p-24f;
  const int exponent = static_cast<int>(random() % 41) - 20;
  switch (regime) {
    case Regime::kUniform:
      return sign * unit;
    case Regime::kCancelling:
      return std::ldexp(sign * (1.0f + unit), exponent);
    case Regime::kSubnormal:
      return std::ldexp(sign * (1.0f + unit),
                        exponent / 4 - (bits & 2 ? 63 : 126));
    case Regime::kHuge:
      return std::ldexp(sign * (1.0f + unit), 62 + exponent / 10);
    case Regime::kZeros:
      return sign * (bits & 0xe ? 0.0f : std::ldexp(unit, -70));
    case Regime::kSpecial:
      if (bits % 97 == 0) return sign * std::numeric_limits<float>::infinity();
      if (bits % 89 == 0) return std::numeric_limits<float>::quiet_NaN();
      return sign * unit;
    case Regime::kAnyBits:
      break;
  }
  return std::bit_cast<float>(bits);
}

inline std::vector<float> RegimeFloats(int64_t count, Regime regime,
                                       uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = NextValue(regime, random);
  return values;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_REGIMES_H_
