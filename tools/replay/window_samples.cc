#include "tools/replay/window_samples.h"

#include <iterator>
#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

ReferenceSample ReferenceOf(const SampleExplanation& sample) {
  return {sample.at.source, sample.loss, sample.repetition.repeated_share()};
}

}  // namespace

WindowVisitor WindowSamples::Watching(WindowVisitor visitor) {
  visitor.before = [this, then = std::move(visitor.before)](
                       int rank, Stepper& stepper, const ReplayedStep& step) {
    LS_RETURN_IF_ERROR(Record(stepper, step.report.step, false));
    return then ? then(rank, stepper, step) : absl::OkStatus();
  };
  visitor.step = [this, then = std::move(visitor.step)](
                     int rank, Stepper& stepper, const ReplayedStep& step) {
    LS_RETURN_IF_ERROR(Record(stepper, step.report.step, true));
    return then ? then(rank, stepper, step) : absl::OkStatus();
  };
  return visitor;
}

absl::Status WindowSamples::Record(const Stepper& stepper, int64_t step,
                                   bool in_window) {
  if (!stepper.layout().counts_losses()) return absl::OkStatus();
  const StepSamples& samples = stepper.last_samples();
  std::vector<SampleExplanation> mine;
  for (size_t i = 0; i < samples.ids.size(); ++i) {
    LS_ASSIGN_OR_RETURN(SampleExplanation sample,
                        ExamineSample(dataset_, samples, i));
    mine.push_back(std::move(sample));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (SampleExplanation& sample : mine) {
    if (in_window) {
      steps_[step].push_back(std::move(sample));
    } else {
      before_.push_back(ReferenceOf(sample));
    }
  }
  return absl::OkStatus();
}

std::map<int64_t, std::vector<SampleExplanation>> WindowSamples::Ranked()
    const {
  auto ranked = steps_;
  for (auto& [step, samples] : ranked) {
    std::vector<ReferenceSample> others = before_;
    for (const auto& [other, theirs] : steps_) {
      if (other == step) continue;
      for (const auto& sample : theirs) others.push_back(ReferenceOf(sample));
    }
    RankSamples(others, samples);
  }
  return ranked;
}

}  // namespace lockstep
