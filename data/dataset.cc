#include "data/dataset.h"

#include <algorithm>
#include <utility>

#include "data/order.h"
#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The only source there is, until blends are built.
constexpr uint64_t kSource = 0;

void Say(const DataNotice& notice, const std::string& text) {
  if (notice) {
    notice(text);
  }
}

absl::Status CheckSourceCount(const DataConfig& config) {
  if (config.sources.size() == 1) {
    return absl::OkStatus();
  }
  return InputError(config.sources.empty() ? "no data source is given"
                                           : "blends are not built yet",
                    "data.source", "give one [[data.source]]");
}

// A tokenizer's ids would all be found while reading; a recipe is quicker.
absl::Status CheckTextVocabulary(const DataConfig& config,
                                 const Tokenizer& tokenizer,
                                 int64_t vocab_size) {
  if (config.sources[0].text.empty() || tokenizer.vocab_size() <= vocab_size) {
    return absl::OkStatus();
  }
  return InputError(
      "the tokenizer '" + config.tokenizer + "' makes ids up to " +
          std::to_string(tokenizer.vocab_size() - 1) +
          ", the model has a vocabulary of " + std::to_string(vocab_size),
      "data.tokenizer and model.vocab",
      "set model.vocab to at least " + std::to_string(tokenizer.vocab_size()));
}

}  // namespace

absl::StatusOr<DataConfig> PrepareSources(FileSystem& fs,
                                          const DataConfig& config,
                                          const std::string& run_dir,
                                          const DataNotice& notice) {
  LS_ASSIGN_OR_RETURN(const auto tokenizer, MakeTokenizer(config.tokenizer));
  DataConfig prepared = config;
  for (DataSourceConfig& source : prepared.sources) {
    if (source.text.empty()) {
      continue;
    }
    const TextCacheRequest request = {source.text, JoinPath(run_dir, "data"),
                                      tokenizer.get(), source.document_bytes};
    LS_ASSIGN_OR_RETURN(source.path, PreparedPrefix(fs, request, notice));
    source.text.clear();
    source.document_bytes = 0;
  }
  return prepared;
}

absl::StatusOr<std::unique_ptr<Dataset>> Dataset::Open(
    FileSystem& fs, const DataConfig& config, const std::string& run_dir,
    uint64_t seed, int64_t vocab_size, const DataNotice& notice) {
  LS_RETURN_IF_ERROR(CheckSourceCount(config));
  std::unique_ptr<Dataset> dataset(new Dataset());
  LS_ASSIGN_OR_RETURN(dataset->tokenizer_, MakeTokenizer(config.tokenizer));
  LS_RETURN_IF_ERROR(
      CheckTextVocabulary(config, *dataset->tokenizer_, vocab_size));
  LS_ASSIGN_OR_RETURN(const DataConfig prepared,
                      PrepareSources(fs, config, run_dir, notice));
  dataset->sequence_ = config.sequence;
  dataset->seed_ = seed;
  LS_ASSIGN_OR_RETURN(
      dataset->file_,
      TokenFile::Open(fs, prepared.sources[0].path, vocab_size));
  if (dataset->file_->content_hash().empty()) {
    Say(notice, "data: " + dataset->file_->prefix() +
                    " has no .blocks file and is too large to be hashed at "
                    "the start: the manifest holds its size alone");
  }
  LS_RETURN_IF_ERROR(dataset->CountSamples(config.validation_fraction, notice));
  return dataset;
}

absl::Status Dataset::CountSamples(double validation_fraction,
                                   const DataNotice& notice) {
  LS_ASSIGN_OR_RETURN(split_, SplitDocuments(*file_, validation_fraction));
  train_samples_ = (split_.train_tokens - 1) / sequence_;
  if (train_samples_ == 0) {
    return InputError(
        "the training documents hold " + std::to_string(split_.train_tokens) +
            " tokens, and one sample takes " + std::to_string(sequence_ + 1),
        file_->prefix() + ".bin",
        "lower data.sequence or data.validation_fraction, or add data");
  }
  const int64_t used = train_samples_ * sequence_ + 1;
  Say(notice, "data: " + std::to_string(split_.train_documents) +
                  " training documents, " +
                  std::to_string(split_.train_tokens) + " tokens, " +
                  std::to_string(train_samples_) +
                  " samples an epoch; the "
                  "last " +
                  std::to_string(split_.train_tokens - used) +
                  " tokens fill no sample and are dropped");
  if (split_.validation_tokens == 0) {
    return absl::OkStatus();
  }
  if (split_.validation_tokens < 2) {
    return InputError(
        "the held-out documents hold one token, which predicts "
        "nothing",
        file_->prefix() + ".bin", "raise data.validation_fraction");
  }
  validation_samples_ =
      (split_.validation_tokens - 1 + sequence_ - 1) / sequence_;
  const double share = static_cast<double>(split_.validation_tokens) /
                       static_cast<double>(file_->token_count());
  Say(notice, "data: the last " + std::to_string(split_.validation_documents) +
                  " documents are held out, " +
                  std::to_string(split_.validation_tokens) + " tokens, " +
                  std::to_string(validation_samples_) + " samples (share " +
                  std::to_string(share) + ", asked for " +
                  std::to_string(validation_fraction) + ")");
  return absl::OkStatus();
}

absl::Status Dataset::TrainSample(uint64_t global_index,
                                  std::span<int32_t> tokens,
                                  std::span<uint8_t> mask) const {
  LS_CHECK_EQ(static_cast<int64_t>(tokens.size()), sequence_ + 1);
  LS_CHECK_EQ(static_cast<int64_t>(mask.size()), sequence_);
  const uint64_t sample = SampleAt(
      seed_, kSource, static_cast<uint64_t>(train_samples_), global_index);
  std::fill(mask.begin(), mask.end(), uint8_t{1});
  return file_->Read(static_cast<int64_t>(sample) * sequence_, tokens);
}

absl::Status Dataset::ValidationSample(int64_t index, std::span<int32_t> tokens,
                                       std::span<uint8_t> mask) const {
  LS_CHECK_EQ(static_cast<int64_t>(tokens.size()), sequence_ + 1);
  LS_CHECK_EQ(static_cast<int64_t>(mask.size()), sequence_);
  LS_CHECK(index >= 0 && index < validation_samples_) << index;
  const int64_t first = index * sequence_;
  const int64_t count =
      std::min(sequence_ + 1, split_.validation_tokens - first);
  std::fill(tokens.begin() + count, tokens.end(), 0);
  for (int64_t t = 0; t < sequence_; ++t) {
    mask[t] = t + 1 < count ? 1 : 0;
  }
  return file_->Read(split_.train_tokens + first, tokens.first(count));
}

absl::StatusOr<SampleLocation> Dataset::Locate(uint64_t global_index) const {
  const uint64_t count = static_cast<uint64_t>(train_samples_);
  SampleLocation at;
  at.global_index = global_index;
  at.source = kSource;
  at.epoch = static_cast<int64_t>(global_index / count);
  at.sample =
      static_cast<int64_t>(SampleAt(seed_, kSource, count, global_index));
  at.first_token = at.sample * sequence_;
  LS_ASSIGN_OR_RETURN(at.first_document, file_->DocumentOf(at.first_token));
  LS_ASSIGN_OR_RETURN(at.last_document,
                      file_->DocumentOf(at.first_token + sequence_));
  LS_ASSIGN_OR_RETURN(const int64_t start,
                      file_->DocumentStart(at.first_document));
  at.document_offset = at.first_token - start;
  return at;
}

std::vector<DataFileIdentity> Dataset::Identities() const {
  return {
      {file_->prefix() + ".bin", file_->bin_bytes(), file_->content_hash()},
      {file_->prefix() + ".idx", file_->idx_bytes(), file_->content_hash()},
  };
}

}  // namespace lockstep
