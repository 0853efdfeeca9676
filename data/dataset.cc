#include "data/dataset.h"

#include <algorithm>
#include <utility>

#include "data/kept_tokenizer.h"
#include "data/order.h"
#include "data/text_cache.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

void Say(const DataNotice& notice, const std::string& text) {
  if (notice) {
    notice(text);
  }
}

absl::Status CheckSourceCount(const DataConfig& config) {
  if (!config.sources.empty() && config.sources.size() <= kMaxBlendSources) {
    return absl::OkStatus();
  }
  return InputError(config.sources.empty() ? "no data source is given"
                                           : "too many data sources",
                    "data.source", "give between 1 and 65536 [[data.source]]");
}

// A tokenizer's ids would all be found while reading; a recipe is quicker.
absl::Status CheckTextVocabulary(const DataConfig& config,
                                 const Tokenizer& tokenizer,
                                 int64_t vocab_size) {
  const bool any_text =
      std::any_of(config.sources.begin(), config.sources.end(),
                  [](const DataSourceConfig& s) { return !s.text.empty(); });
  if (!any_text || tokenizer.vocab_size() <= vocab_size) {
    return absl::OkStatus();
  }
  return InputError(
      "the tokenizer '" + config.tokenizer + "' makes ids up to " +
          std::to_string(tokenizer.vocab_size() - 1) +
          ", the model has a vocabulary of " + std::to_string(vocab_size),
      "data.tokenizer and model.vocab",
      "set model.vocab to at least " + std::to_string(tokenizer.vocab_size()));
}

std::vector<BlendStage> StagesOf(const DataConfig& config) {
  std::vector<BlendStage> stages(1);
  for (const DataSourceConfig& source : config.sources) {
    stages[0].weights.push_back(source.weight);
  }
  for (const WeightsChange& change : config.weights_schedule) {
    stages.push_back(
        {static_cast<uint64_t>(change.from_sample), change.weights});
  }
  return stages;
}

}  // namespace

absl::StatusOr<DataConfig> PrepareSources(FileSystem& fs,
                                          const DataConfig& config,
                                          const std::string& run_dir,
                                          const DataNotice& notice) {
  LS_ASSIGN_OR_RETURN(const auto tokenizer,
                      MakeTokenizer(fs, config.tokenizer));
  DataConfig prepared = config;
  for (DataSourceConfig& source : prepared.sources) {
    if (source.text.empty()) {
      continue;
    }
    const TextCacheRequest request = {source.text, JoinPath(run_dir, "data"),
                                      tokenizer.get(), source.document_bytes,
                                      source.field};
    LS_ASSIGN_OR_RETURN(source.path, PreparedPrefix(fs, request, notice));
    source.text.clear();
    source.document_bytes = 0;
    source.field.clear();
  }
  return prepared;
}

absl::StatusOr<std::unique_ptr<Dataset>> Dataset::Open(
    FileSystem& fs, const DataConfig& config, const std::string& run_dir,
    uint64_t seed, int64_t vocab_size, const DataNotice& notice) {
  LS_RETURN_IF_ERROR(CheckSourceCount(config));
  std::unique_ptr<Dataset> dataset(new Dataset());
  LS_ASSIGN_OR_RETURN(dataset->tokenizer_, MakeTokenizer(fs, config.tokenizer));
  LS_RETURN_IF_ERROR(
      CheckTextVocabulary(config, *dataset->tokenizer_, vocab_size));
  LS_ASSIGN_OR_RETURN(const DataConfig prepared,
                      PrepareSources(fs, config, run_dir, notice));
  LS_RETURN_IF_ERROR(
      KeepTokenizer(fs, config.tokenizer, *dataset->tokenizer_, run_dir));
  dataset->sequence_ = config.sequence;
  dataset->reset_at_documents_ = config.reset_at_documents;
  dataset->seed_ = seed;
  for (const DataSourceConfig& source : prepared.sources) {
    LS_ASSIGN_OR_RETURN(
        DataSource opened,
        DataSource::Open(fs, source.path,
                         {.vocab_size = vocab_size,
                          .sequence = config.sequence,
                          .validation_fraction = config.validation_fraction,
                          .reset_at_documents = config.reset_at_documents},
                         notice));
    dataset->sources_.push_back(std::move(opened));
  }
  LS_RETURN_IF_ERROR(dataset->MakeBlend(prepared, notice));
  return dataset;
}

absl::Status Dataset::MakeBlend(const DataConfig& config,
                                const DataNotice& notice) {
  LS_ASSIGN_OR_RETURN(blend_, Blend::Make(StagesOf(config)));
  for (size_t stage = 0; stage < blend_.stage_count(); ++stage) {
    const BlendPeriod& period = blend_.period(stage);
    for (int64_t s = 0; s < source_count(); ++s) {
      const uint64_t part = period.parts()[s];
      if (!blend_.rounded(stage) && part > 0) {
        continue;
      }
      Say(notice,
          "data: " + sources_[s].file().prefix() +
              (part == 0 ? " is never drawn" : " is drawn") +
              " with its weight " +
              (blend_.rounded(stage) ? "rounded to " : "of ") +
              std::to_string(part) + "/" + std::to_string(period.period()) +
              (stage == 0 ? ""
                          : " from sample " +
                                std::to_string(blend_.from_sample(stage))));
    }
  }
  return absl::OkStatus();
}

uint64_t Dataset::SampleOf(const BlendDraw& draw) const {
  const auto count =
      static_cast<uint64_t>(sources_[draw.source].train_samples());
  return SampleAt(seed_, draw.source, count, draw.index);
}

int64_t Dataset::validation_samples() const {
  int64_t samples = 0;
  for (const DataSource& source : sources_) {
    samples += source.validation_samples();
  }
  return samples;
}

absl::Status Dataset::TrainSample(uint64_t global_index,
                                  const SampleRows& rows) const {
  const BlendDraw draw = blend_.At(global_index);
  return sources_[draw.source].TrainSample(static_cast<int64_t>(SampleOf(draw)),
                                           rows);
}

absl::StatusOr<SampleLocation> Dataset::Locate(uint64_t global_index) const {
  const BlendDraw draw = blend_.At(global_index);
  const DataSource& source = sources_[draw.source];
  const TokenStore& file = source.file();
  SampleLocation at = {global_index, static_cast<int64_t>(draw.source)};
  at.epoch = static_cast<int64_t>(draw.index) / source.train_samples();
  at.sample = static_cast<int64_t>(SampleOf(draw));
  at.first_token = at.sample * sequence_;
  LS_ASSIGN_OR_RETURN(at.first_document, file.DocumentOf(at.first_token));
  LS_ASSIGN_OR_RETURN(at.last_document,
                      file.DocumentOf(at.first_token + sequence_));
  LS_ASSIGN_OR_RETURN(const int64_t start,
                      file.DocumentStart(at.first_document));
  at.document_offset = at.first_token - start;
  return at;
}

}  // namespace lockstep
