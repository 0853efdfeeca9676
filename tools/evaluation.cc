#include "tools/evaluation.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "determinism/exact_sum.h"
#include "determinism/float_env.h"
#include "determinism/math64.h"
#include "determinism/status.h"
#include "tools/metrics.h"
#include "tools/step_fingerprint.h"

namespace lockstep {
namespace {

struct Totals {
  ExactSum loss;
  int64_t samples = 0;
  int64_t tokens = 0;
  int64_t bytes = 0;
  bool foreign = false;  // ids that the tokenizer has no text for
  std::string text;
};

// The last micro-batch may be smaller: samples do not see each other (N1).
absl::Status AddMicroBatch(Stepper& stepper, int64_t source, int64_t first,
                           int64_t samples, Totals& totals) {
  const Dataset& data = stepper.dataset();
  const int64_t tokens = data.sequence();
  std::vector<int32_t> rows(static_cast<size_t>(samples * (tokens + 1)));
  std::vector<uint8_t> mask(static_cast<size_t>(samples * tokens));
  std::vector<int32_t> ids(mask.size()), labels(mask.size());
  std::vector<int32_t> segments(mask.size());
  for (int64_t s = 0; s < samples; ++s) {
    LS_RETURN_IF_ERROR(data.ValidationSample(
        source, first + s, RowsOfSample(s, tokens, rows, mask, segments)));
  }
  SplitInputsAndLabels(rows.data(), samples, tokens, ids.data(), labels.data());
  OperationHooks none;
  const StepContext context = {
      .device = stepper.device(),
      .hooks = none,
      .phase = Phase::kEvaluate,
      .samples = samples,
      .tokens = tokens,
      .training = false,
      .segments = data.reset_at_documents() ? segments.data() : nullptr};
  const Tensor loss = stepper.stage().EvaluateMicroBatch(
      context, {ids.data(), {labels.data(), mask.data()}});
  for (int64_t i = 0; i < loss.count(); ++i) {
    if (mask[static_cast<size_t>(i)] == 0) continue;
    totals.loss.Add(loss.data<float>()[i]);
    totals.tokens += 1;
    const auto at = static_cast<size_t>(i);
    totals.text += data.tokenizer().DecodeAfter(ids[at], labels[at]);
    totals.foreign |= labels[at] >= data.tokenizer().vocab_size();
  }
  totals.samples += samples;
  totals.bytes = static_cast<int64_t>(totals.text.size());
  return absl::OkStatus();
}

EvaluationPart PartOf(const Totals& totals) {
  EvaluationPart part = {.samples = totals.samples,
                         .tokens = totals.tokens,
                         .bytes = totals.bytes};
  const double nats = totals.loss.Round();
  part.loss = nats / static_cast<double>(part.tokens);
  if (totals.foreign) {
    part.bytes = 0;
    part.bits_per_byte = std::numeric_limits<double>::quiet_NaN();
    return part;
  }
  part.bits_per_byte = nats / math64::Log(2.0) /
                       static_cast<double>(std::max<int64_t>(part.bytes, 1));
  return part;
}

absl::StatusOr<EvaluationPart> EvaluateSource(Stepper& stepper, int64_t source,
                                              int64_t max_samples,
                                              int64_t micro_batch,
                                              Totals& totals) {
  const Dataset& data = stepper.dataset();
  int64_t samples = data.validation_samples(source);
  if (max_samples > 0) samples = std::min(samples, max_samples);
  for (int64_t first = 0; first < samples; first += micro_batch) {
    LS_RETURN_IF_ERROR(AddMicroBatch(stepper, source, first,
                                     std::min(micro_batch, samples - first),
                                     totals));
  }
  if (totals.tokens == 0) {
    return InputError(
        "there are no held-out documents to evaluate on",
        data.source(source).file().prefix() + ", data.validation_fraction",
        "set it to a share such as 0.05");
  }
  return PartOf(totals);
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(Stepper& stepper, int64_t max_samples,
                                    int64_t micro_batch, std::string* text) {
  const ScopedFloatEnv float_env;
  Totals all;
  Evaluation result;
  for (int64_t i = 0; i < stepper.dataset().source_count(); ++i) {
    Totals totals;
    LS_ASSIGN_OR_RETURN(
        const EvaluationPart part,
        EvaluateSource(stepper, i, max_samples, micro_batch, totals));
    result.sources.push_back(part);
    all.loss.Merge(totals.loss);
    all.samples += totals.samples;
    all.tokens += totals.tokens;
    all.bytes += totals.bytes;
    all.foreign |= totals.foreign;
    if (text != nullptr) text->append(totals.text);
  }
  static_cast<EvaluationPart&>(result) = PartOf(all);
  return result;
}

nlohmann::ordered_json SourcesJson(const Evaluation& evaluation) {
  auto sources = nlohmann::ordered_json::array();
  for (const EvaluationPart& part : evaluation.sources) {
    sources.push_back({{"loss", part.loss},
                       {"loss_bits", BitsOf(part.loss)},
                       {"bits_per_byte", part.bits_per_byte},
                       {"samples", part.samples},
                       {"tokens", part.tokens},
                       {"bytes", part.bytes}});
  }
  return sources;
}

std::string EvaluationLine(int64_t step, const Evaluation& evaluation) {
  nlohmann::ordered_json json;
  json["step"] = step;
  json["loss"] = evaluation.loss;
  json["loss_bits"] = BitsOf(evaluation.loss);
  json["bits_per_byte"] = evaluation.bits_per_byte;
  json["tokens"] = evaluation.tokens;
  json["samples"] = evaluation.samples;
  if (evaluation.sources.size() > 1) json["sources"] = SourcesJson(evaluation);
  return json.dump();
}

}  // namespace lockstep
