#include "tools/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "determinism/exact_sum.h"
#include "determinism/float_env.h"
#include "determinism/math64.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "tools/evaluation_source.h"
#include "tools/metrics.h"

namespace lockstep {
namespace {

absl::Status AddOverRanks(Communicator& world, EvaluationTotals& totals) {
  int64_t counts[] = {totals.samples, totals.tokens,   totals.bytes,
                      totals.foreign, totals.measured, totals.count_squares};
  LS_RETURN_IF_ERROR(AddOverRanks(world, totals.loss));
  LS_RETURN_IF_ERROR(AddOverRanks(world, totals.squares));
  LS_RETURN_IF_ERROR(AddOverRanks(world, totals.products));
  LS_RETURN_IF_ERROR(AddOverRanks(world, std::span<int64_t>(counts)));
  totals.samples = counts[0];
  totals.tokens = counts[1];
  totals.bytes = counts[2];
  totals.foreign = counts[3];
  totals.measured = counts[4];
  totals.count_squares = counts[5];
  return absl::OkStatus();
}

// Of the ratio sum(l) / sum(n): the deviations l - ratio n, of n - 1 samples.
double StandardError(const EvaluationTotals& totals, double ratio) {
  if (totals.measured < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto samples = static_cast<double>(totals.measured);
  const double deviations =
      totals.squares.Round() - 2 * ratio * totals.products.Round() +
      ratio * ratio * static_cast<double>(totals.count_squares);
  return std::sqrt(std::max(deviations, 0.0) * samples / (samples - 1)) /
         static_cast<double>(totals.tokens);
}

EvaluationPart PartOf(const EvaluationTotals& totals) {
  EvaluationPart part = {.samples = totals.samples,
                         .tokens = totals.tokens,
                         .bytes = totals.bytes};
  const double nats = totals.loss.Round();
  part.loss = nats / static_cast<double>(part.tokens);
  part.standard_error = StandardError(totals, part.loss);
  if (totals.foreign > 0) {
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
                                              EvaluationTotals& totals) {
  const Dataset& data = stepper.dataset();
  int64_t samples = data.validation_samples(source);
  if (max_samples > 0) samples = std::min(samples, max_samples);
  EvaluationSource batches(stepper, source, samples, micro_batch, totals);
  Communicator& world = *stepper.layout().world;
  if (batches.count() > 0) LS_RETURN_IF_ERROR(batches.Load(0));
  LS_RETURN_IF_ERROR(stepper.pipeline().Evaluate(batches));
  totals.bytes = static_cast<int64_t>(totals.text.size());
  LS_RETURN_IF_ERROR(AddOverRanks(world, totals));
  const std::string& prefix = data.source(source).file().prefix();
  if (totals.tokens == 0 && samples > 0) {
    return InputError(
        "no token of the held-out documents has a label that counts",
        absl::StrCat(prefix, ", ", samples, " samples"),
        "each of its tokens ends a document, and data.reset_at_documents masks "
        "the label behind that: give documents of more than one token, or set "
        "it to false");
  }
  if (totals.tokens == 0) {
    return InputError("there are no held-out documents to evaluate on",
                      prefix + ", data.validation_fraction",
                      "set it to a share such as 0.05");
  }
  return PartOf(totals);
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(Stepper& stepper, int64_t max_samples,
                                    int64_t micro_batch, std::string* text) {
  const ScopedFloatEnv float_env;
  EvaluationTotals all;
  Evaluation result;
  for (int64_t i = 0; i < stepper.dataset().source_count(); ++i) {
    EvaluationTotals totals;
    LS_ASSIGN_OR_RETURN(
        const EvaluationPart part,
        EvaluateSource(stepper, i, max_samples, micro_batch, totals));
    result.sources.push_back(part);
    all.loss.Merge(totals.loss);
    all.squares.Merge(totals.squares);
    all.products.Merge(totals.products);
    all.measured += totals.measured;
    all.count_squares += totals.count_squares;
    all.samples += totals.samples;
    all.tokens += totals.tokens;
    all.bytes += totals.bytes;
    all.foreign += totals.foreign;
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
  json["standard_error"] = evaluation.standard_error;
  if (evaluation.sources.size() > 1) json["sources"] = SourcesJson(evaluation);
  return json.dump();
}

}  // namespace lockstep
