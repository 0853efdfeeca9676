// Two arms of numbers, and whether they differ by as much as matters.
//
// What it is: Welch's t test with the degrees of freedom of Welch and
// Satterthwaite, its 95 % interval, and a verdict against a least effect that
// is worth acting on; and how many seeds an arm would settle it. What it is
// not: about runs (lineage.h says which may stand in one arm). Why so: the
// spread of seeds is unknown and small samples of it are what there is, so the
// bar is that of the t distribution, for unequal spreads.
//
// Lower numbers are better; delta = baseline - candidate, so an improvement is
// positive. Verdicts:
//   improved      p < 0.05 and delta >= min_effect
//   regressed     p < 0.05 and delta <= -min_effect
//   equivalent    the interval lies within +-min_effect
//   inconclusive  none of these, or the noise is unknown
#ifndef LOCKSTEP_TOOLS_COMPARE_WELCH_H_
#define LOCKSTEP_TOOLS_COMPARE_WELCH_H_

#include <cstdint>
#include <optional>
#include <span>

namespace lockstep {

enum class CompareVerdict : uint8_t {
  kImproved,
  kRegressed,
  kEquivalent,
  kInconclusive,
};
const char* NameOf(CompareVerdict verdict);

inline constexpr double kSignificance = 0.05;

// One arm as the test sees it.
struct ArmStatistics {
  int64_t count = 0;
  double mean = 0;
  double variance = 0;      // of one number, by count - 1
  double variance_dof = 0;  // 0: unknown
  bool from_spread = false;
};

ArmStatistics StatisticsOf(std::span<const double> values);

struct WelchResult {
  CompareVerdict verdict = CompareVerdict::kInconclusive;
  double delta = 0;
  // False: the noise is not known, and the five below mean nothing.
  bool tested = false;
  double t = 0, dof = 0, p = 1, low = 0, high = 0;
  // 0.01 < p: significant, and not by much.
  bool borderline = false;
  // Seeds an arm with which a difference of min_effect is found with 90 %
  // probability, and no difference is shown to be none (equivalent) with 80 %:
  // the least n with (t(0.975) + t(0.90)) * standard error <= min_effect.
  // Absent where the noise is unknown or no number is enough.
  std::optional<int64_t> planned_seeds;
  // 0 where it is settled; else planned_seeds, or, where there are as many
  // already, what settles a difference as large as the one observed with 80 %.
  std::optional<int64_t> seeds_needed;
};

// Arms whose variance is unknown, or zero in both, settle nothing.
WelchResult WelchTest(const ArmStatistics& baseline,
                      const ArmStatistics& candidate, double min_effect);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_WELCH_H_
