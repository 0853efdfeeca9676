// The learning rate as a closed formula of samples (MODEL 3, N6).
//
// What it is: warm-up, then constant, cosine, or warm-up-stable-decay with four
// shapes of decay. What it is not: an object that is stepped: there is nothing
// to advance twice or to rebuild wrongly on a resume. The counter is samples of
// completed updates, the one being made included, so that a skipped step or
// another batch size cannot shift the curve and the first update is not lost to
// a rate of zero. All in binary64 with our own polynomials: libm's cos and pow
// change with the CPU.
#ifndef LOCKSTEP_MODEL_SCHEDULE_H_
#define LOCKSTEP_MODEL_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "recipes/section.h"

namespace lockstep {

// Lengths are in steps of batch.global samples, resolved to samples at step 0.
struct ScheduleConfig {
  std::string shape = "cosine";
  int64_t warmup = 0;
  int64_t decay = 0;              // wsd_*: the last so many steps
  std::optional<int64_t> length;  // whole curve; absent: the run's first length
  double init_lr = 0.0;           // where warm-up starts
  double min_lr = 0.0;

  bool has_length() const { return shape != "constant"; }
};

void DescribeSection(Section& section, ScheduleConfig& config);

// The resolved curve, in samples.
struct Schedule {
  std::string shape = "constant";
  double max_lr = 0;
  double init_lr = 0;
  double min_lr = 0;
  int64_t warmup_samples = 0;
  int64_t decay_samples = 0;
  int64_t length_samples = 0;

  // `samples` >= 0. Beyond the length: min_lr (constant: max_lr).
  double At(int64_t samples) const;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_SCHEDULE_H_
