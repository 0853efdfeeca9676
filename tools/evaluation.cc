#include "tools/evaluation.h"

#include <algorithm>
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
  int64_t tokens = 0;
  std::string text;
};

// The last micro-batch may be smaller: samples do not see each other (N1).
absl::Status AddMicroBatch(Stepper& stepper, int64_t first, int64_t samples,
                           Totals& totals) {
  const Dataset& data = stepper.dataset();
  const int64_t tokens = data.sequence();
  std::vector<int32_t> rows(static_cast<size_t>(samples * (tokens + 1)));
  std::vector<uint8_t> mask(static_cast<size_t>(samples * tokens));
  std::vector<int32_t> ids(mask.size()), labels(mask.size());
  for (int64_t s = 0; s < samples; ++s) {
    LS_RETURN_IF_ERROR(data.ValidationSample(
        first + s,
        std::span(rows).subspan(static_cast<size_t>(s * (tokens + 1)),
                                static_cast<size_t>(tokens + 1)),
        std::span(mask).subspan(static_cast<size_t>(s * tokens),
                                static_cast<size_t>(tokens))));
  }
  SplitInputsAndLabels(rows.data(), samples, tokens, ids.data(), labels.data());
  OperationHooks none;
  const StepContext context = {.device = stepper.device(),
                               .hooks = none,
                               .phase = Phase::kEvaluate,
                               .samples = samples,
                               .tokens = tokens,
                               .training = false};
  const Tensor loss = stepper.stage().EvaluateMicroBatch(
      context, {ids.data(), {labels.data(), mask.data()}});
  for (int64_t i = 0; i < loss.count(); ++i) {
    if (mask[static_cast<size_t>(i)] == 0) continue;
    totals.loss.Add(loss.data<float>()[i]);
    totals.tokens += 1;
    totals.text +=
        data.tokenizer().Decode(std::span(&labels[static_cast<size_t>(i)], 1));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(Stepper& stepper, int64_t max_samples,
                                    int64_t micro_batch, std::string* text) {
  const ScopedFloatEnv float_env;
  int64_t samples = stepper.dataset().validation_samples();
  if (max_samples > 0) samples = std::min(samples, max_samples);
  if (samples == 0) {
    return InputError("there are no held-out documents to evaluate on",
                      "data.validation_fraction",
                      "set it to a share such as 0.05");
  }
  Totals totals;
  for (int64_t first = 0; first < samples; first += micro_batch) {
    LS_RETURN_IF_ERROR(AddMicroBatch(
        stepper, first, std::min(micro_batch, samples - first), totals));
  }
  Evaluation result = {.samples = samples,
                       .tokens = totals.tokens,
                       .bytes = static_cast<int64_t>(totals.text.size())};
  const double nats = totals.loss.Round();
  result.loss = nats / static_cast<double>(totals.tokens);
  result.bits_per_byte =
      nats / math64::Log(2.0) /
      static_cast<double>(std::max<int64_t>(result.bytes, 1));
  if (text != nullptr) text->append(totals.text);
  return result;
}

std::string EvaluationLine(int64_t step, const Evaluation& evaluation) {
  nlohmann::ordered_json json;
  json["step"] = step;
  json["loss"] = evaluation.loss;
  json["loss_bits"] = BitsOf(evaluation.loss);
  json["bits_per_byte"] = evaluation.bits_per_byte;
  json["tokens"] = evaluation.tokens;
  json["samples"] = evaluation.samples;
  return json.dump();
}

}  // namespace lockstep
