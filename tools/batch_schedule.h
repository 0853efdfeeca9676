// How many samples a step takes, by the samples seen before it.
//
// What it is: `batch.global`, or the stages of `batch.schedule` as written
// ("0:8,1000:16": 8 samples a step, and 16 from the first step that begins with
// 1000 seen or more). What it is not: part of the order of data: the cursor is
// in samples, so no schedule repeats or passes over one. Why so: keyed by
// samples, not steps, a stage begins at the same data whatever came before.
#ifndef LOCKSTEP_TOOLS_BATCH_SCHEDULE_H_
#define LOCKSTEP_TOOLS_BATCH_SCHEDULE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

// No run has more steps, and no step more samples: what is counted in samples
// stays below 2^52, and in tokens of 2048 below 2^63.
inline constexpr int64_t kMostSteps = int64_t{1} << 28;
inline constexpr int64_t kMostBatch = int64_t{1} << 24;

class BatchSchedule {
 public:
  explicit BatchSchedule(int64_t global = 1) : stages_({{0, global}}) {}

  // InputError for what is not a list "samples:batch" that begins at 0 and
  // ascends, or has a batch below 1 or beyond kMostBatch.
  static absl::StatusOr<BatchSchedule> Parse(std::string_view text);

  int64_t At(int64_t samples_seen) const;  // samples of the next step
  // Seen after `steps` more steps, 0 to kMostSteps, of a run that has seen
  // `seen`; from the run's start on.
  int64_t SamplesAfter(int64_t steps, int64_t seen = 0) const;
  int64_t StepsFor(int64_t samples) const;  // fewest that reach them
  int64_t first() const { return stages_[0].global; }
  std::vector<int64_t> sizes() const;  // of every stage, in order

 private:
  struct Stage {
    int64_t from_samples;
    int64_t global;
  };
  // Steps of stage i when it begins with `seen` samples; the last never ends.
  int64_t StepsOf(size_t i, int64_t seen) const;

  std::vector<Stage> stages_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BATCH_SCHEDULE_H_
