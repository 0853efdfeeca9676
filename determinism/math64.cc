#include "determinism/math64.h"

#include <bit>
#include <cmath>

namespace lockstep {
namespace math64 {
namespace {

constexpr double kInfinity = __builtin_inf();
constexpr double kNaN = __builtin_nan("");
constexpr double kSmallestNormal = 0x1p-1022;

// ln 2 with 42 bits, so that its product with an exponent is exact, and rest.
constexpr double kLn2High = 0x1.62e42fefa3800p-1;
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
// The nearest binary64 to ln 2, log2 e and pi, and what each leaves over.
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLn2Rest = 0x1.abc9e3b39803fp-56;
constexpr double kLog2E = 0x1.71547652b82fep+0;
constexpr double kLog2ERest = 0x1.777d0ffda0d24p-56;
constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kPiRest = 0x1.1a62633145c07p-53;

// Nearest integer, ties to even, for |x| < 2^51.
double RoundToInteger(double x) { return (x + 0x1.8p+52) - 0x1.8p+52; }

// c[0] + c[1] x + ... by Horner's rule.
template <int n>
double Polynomial(const double (&c)[n], double x) {
  double value = c[n - 1];
  for (int i = n - 2; i >= 0; --i) value = std::fma(value, x, c[i]);
  return value;
}

double PowerOfTwo(int n) {  // n in [-1022, 1023]
  return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

// 2^n e^(high + low), |high| <= 0.35 and low its rounding error.
double ScaledExp(double n, double high, double low) {
  static constexpr double kTail[] = {
      0x1.0000000000000p-1,  0x1.555555555555ap-3,  0x1.5555555555531p-5,
      0x1.111111110f166p-7,  0x1.6c16c16c26f0cp-10, 0x1.a01a01b1e4405p-13,
      0x1.a01a01522cc3ep-16, 0x1.71ddf38a2f7d2p-19, 0x1.27e58e751ca0bp-22,
      0x1.af66b3d59df71p-26, 0x1.1e63dd1b7fb81p-29};
  const double r = high + low;
  const double y = 1.0 + (high + std::fma(Polynomial(kTail, r), r * r, low));
  const int whole = static_cast<int>(n);
  return y * PowerOfTwo(whole / 2) * PowerOfTwo(whole - whole / 2);
}

// x = m 2^exponent, m in [sqrt(1/2), sqrt(2)), ln m = high + low.
struct LogParts {
  double exponent;
  double high;
  double low;
};

// With f = m - 1 and s = f / (2 + f): ln m = 2 atanh(s), written as
// f - f^2/2 + s (f^2/2 + R(s^2)) so that the leading terms carry no error of s.
LogParts SplitLog(double x) {
  static constexpr double kTail[] = {
      0x1.5555555555555p-1, 0x1.9999999999d10p-2, 0x1.24924924399b2p-2,
      0x1.c71c724b42931p-3, 0x1.745ce1d4a09ebp-3, 0x1.3b2022746817ep-3,
      0x1.0f67723e1bfe5p-3, 0x1.0f0c349b22c39p-3};
  const auto bits = std::bit_cast<int64_t>(x);
  const int64_t exponent = (bits - 0x3fe6a09e667f3bcd) >> 52;
  const double f = std::bit_cast<double>(bits - (exponent << 52)) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  const double half_square = 0.5 * f * f;
  const double square_low = std::fma(0.5 * f, f, -half_square);
  const double high = f - half_square;
  const double high_low = (f - high) - half_square;
  const double rest = s * (half_square + z * Polynomial(kTail, z));
  return {static_cast<double>(exponent), high, (high_low - square_low) + rest};
}

// What the logarithm of a number that is not positive, normal, finite is.
double SpecialLog(double x) {
  if (std::fabs(x) < kSmallestNormal) return -kInfinity;
  if (x < 0.0) return kNaN;
  return x;  // +infinity or NaN
}

bool IsSpecialForLog(double x) {
  return !(x >= kSmallestNormal && x < kInfinity);
}

}  // namespace

double Exp(double x) {
  if (x != x) return x;
  if (x > 0x1.62e42fefa39efp+9) return kInfinity;
  if (x < -0x1.6232bdd7abcd2p+9) return 0.0;
  const double n = RoundToInteger(x * kLog2E);
  return ScaledExp(n, std::fma(-n, kLn2High, x), -n * kLn2Low);
}

double Exp2(double x) {
  if (x != x) return x;
  if (x >= 1024.0) return kInfinity;
  if (x < -1022.0) return 0.0;
  const double n = RoundToInteger(x);
  const double f = x - n;
  const double high = f * kLn2;
  return ScaledExp(n, high, std::fma(f, kLn2, -high) + f * kLn2Rest);
}

double Log(double x) {
  if (IsSpecialForLog(x)) return SpecialLog(x);
  const LogParts log = SplitLog(x);
  const double whole = log.exponent * kLn2High;  // exact
  const double sum = whole + log.high;
  const double error = (whole - sum) + log.high;
  return sum + (error + std::fma(log.exponent, kLn2Low, log.low));
}

double Log2(double x) {
  if (IsSpecialForLog(x)) return SpecialLog(x);
  const LogParts log = SplitLog(x);
  const double high = log.high * kLog2E;
  const double low = std::fma(log.high, kLog2E, -high) +
                     std::fma(log.high, kLog2ERest, log.low * kLog2E);
  const double sum = log.exponent + high;
  const double error = (log.exponent - sum) + high;
  return sum + (error + low);
}

double CosPi(double x) {
  static constexpr double kCos[] = {
      -0x1.3bd3cc9be45dep+2,  0x1.03c1f081b5a38p+2,  -0x1.55d3c7e3b99cfp+0,
      0x1.e1f506643d312p-3,   -0x1.a6d1caf662cbfp-6, 0x1.f9a48150c2559p-10,
      -0x1.99ec365c602abp-14, -0x1.8703e80247b80p-16};
  static constexpr double kSin[] = {
      -0x1.4abbce625be53p+2, 0x1.466bc6775ab7cp+1,  -0x1.32d2cce63afa6p-1,
      0x1.5078349da6c0fp-4,  -0x1.e3076edf9f8aep-8, 0x1.e908f0257b3f0p-12,
      -0x1.73de71ef55664p-16};
  if (!(std::fabs(x) < kInfinity)) return kNaN;
  const double a = std::fabs(x);
  const double period = a - 2.0 * std::floor(0.5 * a);  // [0, 2), exact
  const double n = RoundToInteger(2.0 * period);
  const double f = period - 0.5 * n;
  const int quadrant = static_cast<int>(n) & 3;
  const double s = f * f;
  double value = 0.0;
  if (quadrant % 2 == 0) {
    value = std::fma(Polynomial(kCos, s), s, 1.0);
  } else {
    const double high = f * kPi;
    const double low = std::fma(f, kPi, -high) + f * kPiRest;
    value = high + std::fma(Polynomial(kSin, s), s * f, low);
  }
  const bool negate = quadrant == 1 || quadrant == 2;
  return (negate ? -value : value) + 0.0;  // no -0
}

double PowInt(double base, uint64_t n) {
  double result = 1.0;
  double square = base;
  while (true) {
    if ((n & 1) != 0) result *= square;
    n >>= 1;
    if (n == 0) return result;
    square *= square;
  }
}

}  // namespace math64
}  // namespace lockstep
