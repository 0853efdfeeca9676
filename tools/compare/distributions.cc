#include "tools/compare/distributions.h"

#include <cmath>
#include <functional>
#include <limits>

#include "determinism/check.h"
#include "determinism/math64.h"

namespace lockstep {
namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Continued fractions take about the square root of a parameter in terms.
constexpr int kMostTerms = 1'000'000;

// A value that a quotient may have instead of zero (Lentz).
double NotZero(double x) { return std::abs(x) < 1e-300 ? 1e-300 : x; }

// The continued fraction of I_x(a, b), for x < (a + 1) / (a + b + 2).
double BetaFraction(double x, double a, double b) {
  double c = 1;
  double d = 1 / NotZero(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / NotZero(1 + even * d);
    c = NotZero(1 + even / c);
    value *= d * c;
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / NotZero(1 + odd * d);
    c = NotZero(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) return value;
  }
  LS_CHECK(false) << "no convergence: I_" << x << "(" << a << ", " << b << ")";
  return 0;
}

// x^a e^-x / Gamma(a).
double GammaFront(double a, double x) {
  return math64::Exp(a * math64::Log(x) - x - LogGamma(a));
}

double GammaSeries(double a, double x) {
  double term = 1 / a, sum = term;
  for (int n = 1; n < kMostTerms && term > sum * kEpsilon / 4; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * GammaFront(a, x);
}

double GammaFractionOfUpperTail(double a, double x) {
  double b = x + 1 - a;
  double c = 1e300;
  double d = 1 / NotZero(b);
  double value = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double term = -n * (n - a);
    b += 2;
    d = 1 / NotZero(term * d + b);
    c = NotZero(b + term / c);
    value *= d * c;
    if (std::abs(d * c - 1) < kEpsilon) break;
  }
  return value * GammaFront(a, x);
}

// Where `above`, false at 0 and true from some point on, becomes true.
double Edge(const std::function<bool(double)>& above) {
  double low = 0, high = 1;
  while (!above(high)) {
    low = high;
    high *= 2;
    LS_CHECK(high < 1e300);
  }
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (above(middle) ? high : low) = middle;
  }
}

}  // namespace

// Stirling's series where it is exact to the last bits; below, the recurrence.
double LogGamma(double x) {
  LS_CHECK(x > 0) << x;
  double product = 1;
  for (; x < 12; x += 1) product *= x;
  const double z = 1 / (x * x);
  const double series =
      (1.0 / 12 -
       z * (1.0 / 360 -
            z * (1.0 / 1260 -
                 z * (1.0 / 1680 -
                      z * (1.0 / 1188 - z * (691.0 / 360360 - z / 156)))))) /
      x;
  return (x - 0.5) * math64::Log(x) - x + kHalfLogTwoPi + series -
         math64::Log(product);
}

double IncompleteBeta(double x, double y, double a, double b) {
  LS_CHECK(a > 0 && b > 0 && x >= 0 && y >= 0) << x << " " << a << " " << b;
  if (x == 0) return 0;
  if (y == 0) return 1;
  const double front = math64::Exp(a * math64::Log(x) + b * math64::Log(y) +
                                   LogGamma(a + b) - LogGamma(a) - LogGamma(b));
  if (x * (a + b + 2) < a + 1) return front * BetaFraction(x, a, b) / a;
  return 1 - front * BetaFraction(y, b, a) / b;
}

double IncompleteGamma(double a, double x) {
  LS_CHECK(a > 0 && x >= 0) << a << " " << x;
  if (x == 0) return 0;
  return x < a + 1 ? GammaSeries(a, x) : 1 - GammaFractionOfUpperTail(a, x);
}

double StudentTwoSidedTail(double t, double dof) {
  const double squared = t * t;
  if (!std::isfinite(squared)) return 0;
  const double sum = dof + squared;
  return IncompleteBeta(dof / sum, squared / sum, dof / 2, 0.5);
}

double StudentTwoSidedQuantile(double tail, double dof) {
  LS_CHECK(tail > 0 && tail < 1) << tail;
  return Edge([&](double t) { return StudentTwoSidedTail(t, dof) <= tail; });
}

double ChiSquareQuantile(double probability, double dof) {
  LS_CHECK(probability > 0 && probability < 1) << probability;
  return Edge(
      [&](double x) { return IncompleteGamma(dof / 2, x / 2) >= probability; });
}

}  // namespace lockstep
