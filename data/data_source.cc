#include "data/data_source.h"

#include <algorithm>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

void Say(const DataNotice& notice, const std::string& text) {
  if (notice) {
    notice(text);
  }
}

}  // namespace

absl::StatusOr<DataSource> DataSource::Open(FileSystem& fs,
                                            const std::string& path,
                                            const DataSourceOptions& options,
                                            const DataNotice& notice) {
  DataSource source;
  source.options_ = options;
  LS_ASSIGN_OR_RETURN(source.file_,
                      OpenTokens(fs, path, options.vocab_size, notice));
  LS_RETURN_IF_ERROR(source.CountSamples(notice));
  return source;
}

absl::Status DataSource::CountSamples(const DataNotice& notice) {
  const int64_t sequence = options_.sequence;
  LS_ASSIGN_OR_RETURN(split_,
                      SplitDocuments(*file_, options_.validation_fraction));
  train_samples_ = (split_.train_tokens - 1) / sequence;
  if (train_samples_ == 0) {
    return InputError(
        "the training documents hold " + std::to_string(split_.train_tokens) +
            " tokens, and one sample takes " + std::to_string(sequence + 1),
        file_->prefix(),
        "lower data.sequence or data.validation_fraction, or add data");
  }
  const int64_t used = train_samples_ * sequence + 1;
  Say(notice,
      "data: " + file_->prefix() + ": " +
          std::to_string(split_.train_documents) + " training documents, " +
          std::to_string(split_.train_tokens) + " tokens, " +
          std::to_string(train_samples_) + " samples an epoch; the last " +
          std::to_string(split_.train_tokens - used) +
          " tokens fill no sample and are dropped");
  if (split_.validation_tokens == 0) {
    return absl::OkStatus();
  }
  if (split_.validation_tokens < 2) {
    return InputError(
        "the held-out documents hold one token, which predicts nothing",
        file_->prefix(), "raise data.validation_fraction");
  }
  validation_samples_ =
      (split_.validation_tokens - 1 + sequence - 1) / sequence;
  const double share = static_cast<double>(split_.validation_tokens) /
                       static_cast<double>(file_->token_count());
  Say(notice, "data: " + file_->prefix() + ": the last " +
                  std::to_string(split_.validation_documents) +
                  " documents are held out, " +
                  std::to_string(split_.validation_tokens) + " tokens, " +
                  std::to_string(validation_samples_) + " samples (share " +
                  std::to_string(share) + ", asked for " +
                  std::to_string(options_.validation_fraction) + ")");
  return absl::OkStatus();
}

void DataSource::CheckRows(const SampleRows& rows) const {
  LS_CHECK_EQ(static_cast<int64_t>(rows.tokens.size()), options_.sequence + 1);
  LS_CHECK_EQ(static_cast<int64_t>(rows.mask.size()), options_.sequence);
  LS_CHECK(rows.segments.empty() || rows.segments.size() == rows.mask.size())
      << rows.segments.size();
}

absl::Status DataSource::TrainSample(int64_t sample,
                                     const SampleRows& rows) const {
  CheckRows(rows);
  LS_CHECK(sample >= 0 && sample < train_samples_) << sample;
  const int64_t first = sample * options_.sequence;
  std::fill(rows.mask.begin(), rows.mask.end(), uint8_t{1});
  LS_RETURN_IF_ERROR(file_->Read(first, rows.tokens));
  return MarkDocuments(first, options_.sequence + 1, rows);
}

absl::Status DataSource::ValidationSample(int64_t index,
                                          const SampleRows& rows) const {
  CheckRows(rows);
  LS_CHECK(index >= 0 && index < validation_samples_) << index;
  const int64_t first = index * options_.sequence;
  const int64_t count =
      std::min(options_.sequence + 1, split_.validation_tokens - first);
  std::fill(rows.tokens.begin() + count, rows.tokens.end(), 0);
  for (int64_t t = 0; t < options_.sequence; ++t) {
    rows.mask[t] = t + 1 < count ? 1 : 0;
  }
  LS_RETURN_IF_ERROR(
      file_->Read(split_.train_tokens + first, rows.tokens.first(count)));
  return MarkDocuments(split_.train_tokens + first, count, rows);
}

// Walks the documents that begin in (first_token, first_token + count). Empty
// ones begin nothing that a token could see.
absl::Status DataSource::MarkDocuments(int64_t first_token, int64_t count,
                                       const SampleRows& rows) const {
  std::fill(rows.segments.begin(), rows.segments.end(), 0);
  if (!options_.reset_at_documents) {
    return absl::OkStatus();
  }
  const auto sequence = static_cast<int64_t>(rows.mask.size());
  LS_ASSIGN_OR_RETURN(int64_t document, file_->DocumentOf(first_token));
  for (int64_t begun = 0, last = first_token;;) {
    LS_ASSIGN_OR_RETURN(const int64_t start, file_->DocumentStart(++document));
    if (start >= first_token + count) {
      return absl::OkStatus();
    }
    if (start == last) {
      continue;
    }
    last = start;
    ++begun;
    const int64_t t = start - first_token;
    rows.mask[t - 1] = 0;
    if (!rows.segments.empty() && t < sequence) {
      std::fill(rows.segments.begin() + t, rows.segments.end(),
                static_cast<int32_t>(begun));
    }
  }
}

}  // namespace lockstep
