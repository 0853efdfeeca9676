// A run's length, which a recipe gives in one of three units, and the curve of
// learning rates over it, in samples.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/run_config.h"

namespace lockstep {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace

int64_t RunConfig::Steps() const {
  if (train.steps) return *train.steps;
  const int64_t samples = train.samples
                              ? *train.samples
                              : CeilDiv(train.tokens.value(), data.sequence);
  return batches.StepsFor(samples);
}

int64_t RunConfig::ScheduleLengthSamples(std::optional<int64_t> kept) const {
  const bool named = schedule.has_length() && schedule.length;
  if (kept && !named) return *kept;
  return batches.SamplesAfter(schedule.length.value_or(Steps()));
}

Schedule RunConfig::ResolveSchedule(int64_t length_samples) const {
  const int64_t decay_from =
      std::max<int64_t>(batches.StepsFor(length_samples) - schedule.decay, 0);
  return {.shape = schedule.shape,
          .max_lr = optimizer.lr,
          .init_lr = schedule.init_lr,
          .min_lr = schedule.min_lr,
          .warmup_samples = batches.SamplesAfter(schedule.warmup),
          .decay_samples = length_samples - batches.SamplesAfter(decay_from),
          .length_samples = length_samples};
}

// Where two are given, --set or one file gave both (recipes/one_of.h).
bool CheckLength(Recipe& recipe, const TrainConfig& train) {
  const int given =
      (train.steps ? 1 : 0) + (train.samples ? 1 : 0) + (train.tokens ? 1 : 0);
  if (given == 1) return true;
  const char* key = !train.steps || !train.tokens ? "samples" : "tokens";
  recipe.Error("train", given == 0 ? "steps" : key,
               given == 0 ? "the run has no length; give one of train.steps, "
                            "train.samples and train.tokens"
                          : "the run has more than one length; give one of "
                            "train.steps, train.samples and train.tokens");
  return false;
}

}  // namespace lockstep
