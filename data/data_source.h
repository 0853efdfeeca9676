// One source of samples: a token file, its split, and its samples by number.
//
// What it is: sample s of the training documents and sample i of the held-out
// ones. What it is not: an order over them (order.h) or a choice between
// sources (blend.h). Why so: a source keeps its own samples whatever it is
// blended with.
//
// The last partial sample of the training tokens is dropped, and a notice says
// so; that of the validation tokens is padded with id 0 and masked, so that an
// evaluation covers every held-out token.

#ifndef DATA_DATA_SOURCE_H_
#define DATA_DATA_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/split.h"
#include "data/token_store.h"
#include "determinism/file_system.h"

namespace lockstep {

// Where a sample is written; T is the sequence length.
struct SampleRows {
  std::span<int32_t> tokens;    // T+1
  std::span<uint8_t> mask;      // T; 1 where the label tokens[t + 1] counts
  std::span<int32_t> segments;  // T, or none; documents begun since token 0
};

// Sample s of buffers that hold several in a row; `segments_ST` may be empty.
inline SampleRows RowsOfSample(int64_t s, int64_t sequence,
                               std::span<int32_t> tokens_ST1,
                               std::span<uint8_t> mask_ST,
                               std::span<int32_t> segments_ST) {
  const auto row = static_cast<size_t>(sequence);
  const size_t first = static_cast<size_t>(s) * row;
  return {tokens_ST1.subspan(first + static_cast<size_t>(s), row + 1),
          mask_ST.subspan(first, row),
          segments_ST.empty() ? segments_ST : segments_ST.subspan(first, row)};
}

struct DataSourceOptions {
  int64_t vocab_size = 0;
  int64_t sequence = 0;  // T
  double validation_fraction = 0;
  // The label after a document's last token is masked, and segments are
  // counted (N14); else they are zero.
  bool reset_at_documents = false;
};

class DataSource {
 public:
  // `path` of a pair or of shards (OpenTokens). InputError for one that cannot
  // serve.
  static absl::StatusOr<DataSource> Open(FileSystem& fs,
                                         const std::string& path,
                                         const DataSourceOptions& options,
                                         const DataNotice& notice);

  int64_t train_samples() const { return train_samples_; }
  int64_t validation_samples() const { return validation_samples_; }
  const DocumentSplit& split() const { return split_; }
  const TokenStore& file() const { return *file_; }

  // Wrong extents and samples out of range are LS_CHECKed.
  absl::Status TrainSample(int64_t sample, const SampleRows& rows) const;
  absl::Status ValidationSample(int64_t index, const SampleRows& rows) const;

 private:
  DataSource() = default;

  absl::Status CountSamples(const DataNotice& notice);
  void CheckRows(const SampleRows& rows) const;
  absl::Status MarkDocuments(int64_t first_token, int64_t count,
                             const SampleRows& rows) const;

  DataSourceOptions options_;
  std::unique_ptr<TokenStore> file_;
  DocumentSplit split_;
  int64_t train_samples_ = 0;
  int64_t validation_samples_ = 0;
};

}  // namespace lockstep

#endif  // DATA_DATA_SOURCE_H_
