#include "tools/batch_schedule.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<BatchSchedule> BatchSchedule::Parse(std::string_view text) {
  constexpr int64_t kMost = int64_t{1} << 40;
  BatchSchedule schedule;
  schedule.stages_.clear();
  const std::string owned(text);
  for (const auto entry : absl::StrSplit(owned, ',')) {
    const std::vector<std::string> parts = absl::StrSplit(entry, ':');
    Stage stage = {-1, -1};
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &stage.from_samples) ||
        !absl::SimpleAtoi(parts[1], &stage.global) || stage.global < 1 ||
        stage.global > kMostBatch || stage.from_samples > kMost ||
        (schedule.stages_.empty()
             ? stage.from_samples != 0
             : stage.from_samples <= schedule.stages_.back().from_samples)) {
      return InputError(
          absl::StrCat("'", entry, "' is no stage of a batch schedule"),
          "batch.schedule",
          absl::StrCat("write samples:batch, from 0 on and ascending, batches "
                       "from 1 to ",
                       kMostBatch, ", such as 0:8,1000:16"));
    }
    schedule.stages_.push_back(stage);
  }
  return schedule;
}

int64_t BatchSchedule::At(int64_t samples_seen) const {
  LS_CHECK_GE(samples_seen, 0);
  size_t i = stages_.size() - 1;
  while (stages_[i].from_samples > samples_seen) --i;
  return stages_[i].global;
}

int64_t BatchSchedule::StepsOf(size_t i, int64_t seen) const {
  if (i + 1 == stages_.size()) return std::numeric_limits<int64_t>::max();
  const int64_t left = stages_[i + 1].from_samples - seen;
  const int64_t global = stages_[i].global;
  return left <= 0 ? 0 : (left + global - 1) / global;
}

int64_t BatchSchedule::SamplesAfter(int64_t steps, int64_t seen) const {
  for (size_t i = 0; i < stages_.size(); ++i) {
    const int64_t here = std::min(steps, StepsOf(i, seen));
    seen += here * stages_[i].global;
    steps -= here;
  }
  return seen;
}

int64_t BatchSchedule::StepsFor(int64_t samples) const {
  int64_t seen = 0, steps = 0;
  for (size_t i = 0; i < stages_.size() && seen < samples; ++i) {
    const int64_t global = stages_[i].global;
    const int64_t here =
        std::min((samples - seen + global - 1) / global, StepsOf(i, seen));
    seen += here * global;
    steps += here;
  }
  return steps;
}

std::vector<int64_t> BatchSchedule::sizes() const {
  std::vector<int64_t> sizes;
  for (const Stage& stage : stages_) sizes.push_back(stage.global);
  return sizes;
}

}  // namespace lockstep
