#include "tools/compare/welch.h"

#include <algorithm>
#include <cmath>

#include "determinism/check.h"
#include "tools/compare/distributions.h"

namespace lockstep {
namespace {

constexpr int64_t kMostSeeds = 1'000'000;

double Square(double x) { return x * x; }

// Of the sum of two independent estimates a and b, of which one is not zero.
// Only their ratio matters: a power of two brings the larger one near 1, lest
// the squares of tiny or huge variances leave binary64.
double Satterthwaite(double a, double a_dof, double b, double b_dof) {
  const int exponent = -std::ilogb(std::max(a, b));
  a = std::scalbn(a, exponent);
  b = std::scalbn(b, exponent);
  return Square(a + b) / (Square(a) / a_dof + Square(b) / b_dof);
}

// Whether n seeds an arm, each with its own spread as large as the one known
// now, have (t(0.975) + t(`power`)) standard errors within `effect`.
bool Enough(int64_t n, double a, double b, double power, double effect) {
  const auto count = static_cast<double>(n);
  const double dof = Satterthwaite(a, count - 1, b, count - 1);
  const double error = std::sqrt((a + b) / count);
  return (StudentTwoSidedQuantile(kSignificance, dof) +
          StudentTwoSidedQuantile(2 * (1 - power), dof)) *
             error <=
         effect;
}

std::optional<int64_t> LeastSeeds(double a, double b, double power,
                                  double effect) {
  if (!(effect > 0) || !Enough(kMostSeeds, a, b, power, effect)) return {};
  int64_t low = 1, high = 2;  // one seed has no spread of its own
  while (!Enough(high, a, b, power, effect)) {
    low = high;
    high = std::min(2 * high, kMostSeeds);
  }
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (Enough(middle, a, b, power, effect) ? high : low) = middle;
  }
  return high;
}

CompareVerdict Judge(const WelchResult& r, double min_effect) {
  if (r.p < kSignificance && r.delta >= min_effect) {
    return CompareVerdict::kImproved;
  }
  if (r.p < kSignificance && r.delta <= -min_effect) {
    return CompareVerdict::kRegressed;
  }
  return r.low > -min_effect && r.high < min_effect
             ? CompareVerdict::kEquivalent
             : CompareVerdict::kInconclusive;
}

// Where as many seeds as were planned settled nothing, the difference is near
// the least effect itself, or only just significant.
std::optional<int64_t> SeedsNeeded(const WelchResult& r, const ArmStatistics& a,
                                   const ArmStatistics& b, double min_effect) {
  if (r.verdict != CompareVerdict::kInconclusive) return 0;
  const int64_t have = std::min(a.count, b.count);
  if (!r.planned_seeds || *r.planned_seeds > have) return r.planned_seeds;
  const double size = std::abs(r.delta);
  const double distance = size >= min_effect ? size : min_effect - size;
  const auto seeds = LeastSeeds(a.variance, b.variance, 0.8, distance);
  return seeds ? std::optional(std::max(*seeds, have + 1)) : seeds;
}

}  // namespace

const char* NameOf(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kImproved:
      return "improved";
    case CompareVerdict::kRegressed:
      return "regressed";
    case CompareVerdict::kEquivalent:
      return "equivalent";
    case CompareVerdict::kInconclusive:
      return "inconclusive";
  }
  return "";
}

ArmStatistics StatisticsOf(std::span<const double> values) {
  LS_CHECK(!values.empty());
  ArmStatistics arm;
  arm.count = static_cast<int64_t>(values.size());
  const auto count = static_cast<double>(arm.count);
  for (const double value : values) arm.mean += value;
  arm.mean /= count;
  if (arm.count == 1) return arm;
  for (const double value : values) arm.variance += Square(value - arm.mean);
  arm.variance_dof = count - 1;
  arm.variance /= arm.variance_dof;
  return arm;
}

WelchResult WelchTest(const ArmStatistics& baseline,
                      const ArmStatistics& candidate, double min_effect) {
  WelchResult r;
  r.delta = baseline.mean - candidate.mean;
  const double a = baseline.variance / static_cast<double>(baseline.count);
  const double b = candidate.variance / static_cast<double>(candidate.count);
  r.tested = baseline.variance_dof > 0 && candidate.variance_dof > 0 &&
             a + b > 0 && std::isfinite(a + b);
  if (!r.tested) return r;
  // Two arms that take one and the same estimate have its degrees of freedom.
  r.dof =
      baseline.from_spread && candidate.from_spread
          ? baseline.variance_dof
          : Satterthwaite(a, baseline.variance_dof, b, candidate.variance_dof);
  const double error = std::sqrt(a + b);
  r.t = r.delta / error;
  r.p = StudentTwoSidedTail(r.t, r.dof);
  const double half = StudentTwoSidedQuantile(kSignificance, r.dof) * error;
  r.low = r.delta - half;
  r.high = r.delta + half;
  r.verdict = Judge(r, min_effect);
  r.borderline =
      r.p > kSignificance / 5 && (r.verdict == CompareVerdict::kImproved ||
                                  r.verdict == CompareVerdict::kRegressed);
  r.planned_seeds =
      LeastSeeds(baseline.variance, candidate.variance, 0.9, min_effect);
  r.seeds_needed = SeedsNeeded(r, baseline, candidate, min_effect);
  return r;
}

}  // namespace lockstep
