#include "tools/evaluation_source.h"

#include <algorithm>

#include "determinism/status.h"
#include "tools/step_fingerprint.h"

namespace lockstep {

EvaluationSource::EvaluationSource(Stepper& stepper, int64_t source,
                                   int64_t samples, int64_t micro_batch,
                                   EvaluationTotals& totals)
    : stepper_(stepper),
      data_(stepper.dataset()),
      source_(source),
      samples_(samples),
      micro_(micro_batch),
      share_(ReplicaShareOf((samples + micro_batch - 1) / micro_batch,
                            stepper.layout().shape.data,
                            stepper.layout().at.data)),
      totals_(totals) {}

int64_t EvaluationSource::SamplesOf(int64_t m) const {
  return std::min(micro_, samples_ - FirstSample(m));
}

absl::Status EvaluationSource::Load(int64_t m) {
  const int64_t tokens = data_.sequence(), first = FirstSample(m);
  const int64_t samples = SamplesOf(m);
  rows_.resize(static_cast<size_t>(samples * (tokens + 1)));
  mask_.resize(static_cast<size_t>(samples * tokens));
  ids_.resize(mask_.size());
  labels_.resize(mask_.size());
  segments_.resize(mask_.size());
  for (int64_t s = 0; s < samples; ++s) {
    LS_RETURN_IF_ERROR(data_.ValidationSample(
        source_, first + s, RowsOfSample(s, tokens, rows_, mask_, segments_)));
  }
  SplitInputsAndLabels(rows_.data(), samples, tokens, ids_.data(),
                       labels_.data());
  return absl::OkStatus();
}
StepContext EvaluationSource::Context(int64_t m) {
  return {.device = stepper_.device(),
          .hooks = none_,
          .phase = Phase::kEvaluate,
          .micro_batch = m,
          .samples = SamplesOf(m),
          .tokens = data_.sequence(),
          .training = false,
          .segments = data_.reset_at_documents() ? segments_.data() : nullptr,
          .tensor = stepper_.tensor_axis()};
}
void EvaluationSource::TakeLosses(int64_t m, const Tensor& loss) {
  if (!stepper_.layout().counts_losses()) return;
  const int64_t tokens = data_.sequence();
  for (int64_t s = 0; s < SamplesOf(m); ++s) {
    TakeSample(loss.data<float>(), static_cast<size_t>(s * tokens), tokens);
  }
  totals_.samples += SamplesOf(m);
}
void EvaluationSource::TakeSample(const float* loss, size_t first,
                                  int64_t tokens) {
  const Tokenizer& tokenizer = data_.tokenizer();
  double sum = 0;
  int64_t counted = 0;
  for (size_t at = first; at < first + static_cast<size_t>(tokens); ++at) {
    if (mask_[at] == 0) continue;
    totals_.loss.Add(loss[at]);
    sum += loss[at];
    ++counted;
    totals_.text += tokenizer.DecodeAfter(ids_[at], labels_[at]);
    totals_.foreign += labels_[at] >= tokenizer.vocab_size() ? 1 : 0;
  }
  if (counted == 0) return;
  totals_.tokens += counted;
  totals_.squares.Add(sum * sum);
  totals_.products.Add(sum * static_cast<double>(counted));
  totals_.count_squares += counted * counted;
  totals_.measured += 1;
}
absl::Status EvaluationSource::Finished(int64_t m) {
  return m + 1 < count() ? Load(m + 1) : absl::OkStatus();
}

}  // namespace lockstep
