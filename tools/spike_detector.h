// Is this step's loss or gradient norm far above what the run is used to?
//
// What it is: robust statistics (median and median absolute deviation of the
// natural logarithm) over the last updates, as registered state, and one pure
// decision from the step's reduced loss and norm, before anything moves: equal
// numbers on every rank are one decision on every rank. What it is not: a judge
// of non-finite values (those are refused or skipped before it is asked), or of
// falls. Why so: medians do not follow the outliers they are to find;
// logarithms make one threshold serve a loss of 8 and one of 0.8, and a norm,
// which is spread like a lognormal; binary64 in one fixed order makes the
// decision part of the trajectory, so a resumed run takes the same one.
#ifndef LOCKSTEP_TOOLS_SPIKE_DETECTOR_H_
#define LOCKSTEP_TOOLS_SPIKE_DETECTOR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "determinism/state.h"
#include "recipes/section.h"

namespace lockstep {

struct SpikeConfig {
  std::string action = "off";
  int64_t window = 128;  // updates remembered
  int64_t warmup = 32;   // updates before anything is judged
  double threshold = 8;  // standard deviations, as the MAD estimates them
  int64_t skips = 8;     // in a row; the next one stops the run
};
void DescribeSection(Section& section, SpikeConfig& config);

struct Spike {
  std::string what;   // "loss" or "grad_norm"
  double value = 0;   // this step's
  double median = 0;  // of the window
  double limit = 0;   // the highest value that would have passed

  // "loss 31.2 against a median of 3.9, limit 5.1"
  std::string Text() const;
};

// `history` and `value` in natural logarithms; `history` is not empty. The
// distance of `value` above the median, and the one that is still accepted.
struct RobustLimit {
  double median = 0;
  double limit = 0;
};
RobustLimit LimitOf(std::vector<double> history, double threshold);

class SpikeDetector : public Stateful {
 public:
  SpikeDetector(StateRegistry& registry, const SpikeConfig& config);

  // Of a step that is finite and not yet applied. None while `action` is off
  // or fewer than `warmup` updates are known.
  std::optional<Spike> Judge(double loss, double grad_norm) const;

  // What a spike means for the step at hand.
  bool Skips() const;
  bool Stops() const;
  // The NumericFailure of such a stop (exit 5).
  absl::Status Stopped(const Spike& spike, std::string_view where) const;

  // After the step: an update was applied, or withheld for a spike. Kept up
  // whatever the action, so that state has one shape and `note` changes no bit.
  void Applied(double loss, double grad_norm);
  void Skipped() { skipped_in_a_row_ += 1; }

  void VisitState(StateVisitor& visitor) override;

 private:
  const SpikeConfig config_;
  // Logarithms as little-endian binary64, the oldest first.
  std::string losses_;
  std::string grad_norms_;
  uint64_t skipped_in_a_row_ = 0;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SPIKE_DETECTOR_H_
