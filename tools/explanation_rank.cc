// How far a sample stands out from its like, and the order that follows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "determinism/exact_sum.h"
#include "tools/explanation.h"

namespace lockstep {
namespace {

constexpr size_t kFewestOfASource = 8;
constexpr double kDeviationOfMad = 1.4826;
// Below these a difference says nothing, however alike the others are.
constexpr double kLossFloor = 0.02;        // nats
constexpr double kRepetitionFloor = 0.02;  // a share
constexpr double kMostRepetition = 10;

struct Spread {
  double median = 0;
  double deviation = 0;

  double Z(double value) const { return (value - median) / deviation; }
};

Spread SpreadOf(const std::vector<double>& values, double floor) {
  Spread spread = {.median = Median(values)};
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(std::fabs(value - spread.median));
  }
  const double mad = Median(std::move(distances));
  spread.deviation = std::max(floor, kDeviationOfMad * mad);
  return spread;
}

// Others of the same source, or all others if those are few.
std::vector<const ReferenceSample*> LikesOf(
    size_t self, std::span<const ReferenceSample> all) {
  std::vector<const ReferenceSample*> same, any;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i == self) continue;
    any.push_back(&all[i]);
    if (all[i].source == all[self].source) same.push_back(&all[i]);
  }
  return same.size() >= kFewestOfASource ? same : any;
}

// Where the excess is, or the repetition if that is what stands out.
size_t SuspectPart(const SampleExplanation& sample, double median_loss) {
  const auto weight = [&](const DocumentPart& part) {
    if (sample.repetition_z > sample.loss_z) {
      return static_cast<double>(part.longest_run);
    }
    const double excess =
        (part.loss - median_loss) * static_cast<double>(part.labels);
    return std::isnan(excess) ? std::numeric_limits<double>::infinity()
                              : excess;
  };
  size_t best = 0;
  for (size_t i = 1; i < sample.documents.size(); ++i) {
    if (weight(sample.documents[i]) > weight(sample.documents[best])) best = i;
  }
  return best;
}

// Returns the nats that the sample's losses are above the median of its like.
double RankOne(std::span<const ReferenceSample> all, size_t self,
               SampleExplanation& sample) {
  std::vector<double> losses, shares;
  for (const ReferenceSample* other : LikesOf(self, all)) {
    losses.push_back(other->loss);
    shares.push_back(other->repeated_share);
  }
  if (losses.empty()) return 0;  // the only sample there is
  const Spread loss = SpreadOf(losses, kLossFloor);
  sample.loss_z = loss.Z(sample.loss);
  sample.repetition_z =
      SpreadOf(shares, kRepetitionFloor).Z(sample.repetition.repeated_share());
  sample.suspicion =
      std::max(0.0, sample.loss_z) +
      std::min(std::max(0.0, sample.repetition_z), kMostRepetition);
  if (!std::isfinite(sample.loss)) {
    sample.loss_z = sample.suspicion = std::numeric_limits<double>::infinity();
  }
  sample.suspect_part = SuspectPart(sample, loss.median);
  const double excess =
      (sample.loss - loss.median) * static_cast<double>(sample.labels);
  return std::isfinite(excess) ? std::max(0.0, excess) : 0;
}

}  // namespace

double Median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

void RankSamples(std::span<const ReferenceSample> before,
                 std::vector<SampleExplanation>& samples) {
  std::vector<ReferenceSample> all;
  for (const SampleExplanation& sample : samples) {
    all.push_back(
        {sample.at.source, sample.loss, sample.repetition.repeated_share()});
  }
  all.insert(all.end(), before.begin(), before.end());
  std::vector<double> excess;
  ExactSum total;
  for (size_t i = 0; i < samples.size(); ++i) {
    excess.push_back(RankOne(all, i, samples[i]));
    total.Add(excess.back());
  }
  for (size_t i = 0; i < samples.size() && total.Round() > 0; ++i) {
    samples[i].excess_share = excess[i] / total.Round();
  }
  std::ranges::stable_sort(samples, [](const auto& a, const auto& b) {
    if (a.suspicion != b.suspicion) return a.suspicion > b.suspicion;
    return a.at.global_index < b.at.global_index;
  });
}

}  // namespace lockstep
