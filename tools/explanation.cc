#include "tools/explanation.h"

#include <algorithm>

#include "determinism/exact_sum.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// One sample's row of the buffers of a step.
struct Row {
  std::span<const int32_t> tokens;  // T + 1
  std::span<const uint8_t> mask;    // T
  std::span<const float> losses;    // T
};

Row RowOf(const StepSamples& samples, int64_t sequence, size_t i) {
  const auto row = static_cast<size_t>(sequence);
  return {std::span(samples.tokens_ST1).subspan(i * (row + 1), row + 1),
          std::span(samples.mask_ST).subspan(i * row, row),
          std::span(samples.losses_ST).subspan(i * row, row)};
}

// Labels at positions [from, to) of the sample; position p is label p - 1.
struct Mean {
  int64_t labels = 0;
  double loss = 0;
};
Mean MeanOf(const Row& row, int64_t from, int64_t to) {
  ExactSum sum;
  Mean mean;
  for (int64_t p = std::max<int64_t>(from, 1); p < to; ++p) {
    if (row.mask[static_cast<size_t>(p - 1)] == 0) continue;
    sum.Add(row.losses[static_cast<size_t>(p - 1)]);
    ++mean.labels;
  }
  if (mean.labels > 0)
    mean.loss = sum.Round() / static_cast<double>(mean.labels);
  return mean;
}

absl::StatusOr<std::vector<DocumentPart>> PartsOf(const TokenStore& file,
                                                  const SampleLocation& at,
                                                  const Row& row) {
  std::vector<DocumentPart> parts;
  const int64_t end = at.first_token + std::ssize(row.tokens);
  for (int64_t document = at.first_document, token = at.first_token;
       token < end; ++document) {
    LS_ASSIGN_OR_RETURN(const int64_t start, file.DocumentStart(document));
    LS_ASSIGN_OR_RETURN(const int64_t next, file.DocumentStart(document + 1));
    if (next <= token) continue;
    DocumentPart& part = parts.emplace_back();
    part.document = document;
    part.offset = token - start;
    part.position = token - at.first_token;
    part.tokens = std::min(next, end) - token;
    const Mean mean = MeanOf(row, part.position, part.position + part.tokens);
    part.labels = mean.labels;
    part.loss = mean.loss;
    part.longest_run =
        MeasureRepetition(row.tokens.subspan(static_cast<size_t>(part.position),
                                             static_cast<size_t>(part.tokens)))
            .longest_run;
    token += part.tokens;
  }
  return parts;
}

absl::StatusOr<bool> StandsInFile(const Dataset& dataset, uint64_t index,
                                  const Row& row) {
  std::vector<int32_t> tokens(row.tokens.size());
  std::vector<uint8_t> mask(row.mask.size());
  LS_RETURN_IF_ERROR(dataset.TrainSample(index, {tokens, mask, {}}));
  return std::ranges::equal(tokens, row.tokens);
}

}  // namespace

absl::StatusOr<SampleExplanation> ExamineSample(const Dataset& dataset,
                                                const StepSamples& samples,
                                                size_t i) {
  SampleExplanation sample;
  const Row row = RowOf(samples, dataset.sequence(), i);
  LS_ASSIGN_OR_RETURN(sample.at, dataset.Locate(samples.ids[i]));
  const Mean mean = MeanOf(row, 0, std::ssize(row.tokens));
  sample.labels = mean.labels;
  sample.loss = mean.loss;
  sample.repetition = MeasureRepetition(row.tokens);
  sample.text = dataset.tokenizer().Decode(row.tokens);
  sample.non_text_share = NonTextShare(sample.text);
  const TokenStore& file = dataset.source(sample.at.source).file();
  LS_ASSIGN_OR_RETURN(sample.documents, PartsOf(file, sample.at, row));
  LS_ASSIGN_OR_RETURN(sample.as_in_file,
                      StandsInFile(dataset, samples.ids[i], row));
  return sample;
}

}  // namespace lockstep
