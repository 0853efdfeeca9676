// What a training step reads: sample g of the run, and the held-out samples.
//
// A sample is a pure function of (seed, global sample index): tokens
// sT .. sT+T inclusive of the source's training documents, s = SampleAt(...).
// Inputs are the first T, labels the last T. The dataset receives integers
// and knows no ranks, no batch and no cursor: where a run stands is the global
// sample index, which the trainer owns.
//
// The last partial sample of the training tokens is dropped, and a notice says
// so; that of the validation tokens is padded with id 0 and masked, so that an
// evaluation covers every held-out token.
//
// Immutable after Open; safe to use from several threads.

#ifndef DATA_DATASET_H_
#define DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/data_config.h"
#include "data/split.h"
#include "data/text_cache.h"
#include "data/token_file.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"

namespace lockstep {

// For the manifest, one a file. `sha256` of both files of a pair is the pair's
// content hash, empty where a large foreign pair has none.
struct DataFileIdentity {
  std::string path;
  uint64_t size = 0;
  std::string sha256;
};

// Where a sample came from, for `explain` and `data order`.
struct SampleLocation {
  uint64_t global_index = 0;
  int64_t source = 0;
  int64_t epoch = 0;
  int64_t sample = 0;           // within the source
  int64_t first_token = 0;      // within the source's file
  int64_t first_document = 0;   // of token first_token
  int64_t last_document = 0;    // of token first_token + T
  int64_t document_offset = 0;  // of first_token in first_document, in tokens
};

// Turns each `text` source into a `path` by preparing it into run_dir/data.
// One process does this before the others open; doing it again is a hit.
absl::StatusOr<DataConfig> PrepareSources(FileSystem& fs,
                                          const DataConfig& config,
                                          const std::string& run_dir,
                                          const DataNotice& notice = nullptr);

class Dataset {
 public:
  // Prepares text sources first, see PrepareSources. `vocab_size` is the
  // model's. InputError for data that cannot serve.
  static absl::StatusOr<std::unique_ptr<Dataset>> Open(
      FileSystem& fs, const DataConfig& config, const std::string& run_dir,
      uint64_t seed, int64_t vocab_size, const DataNotice& notice = nullptr);

  int64_t sequence() const { return sequence_; }  // T
  int64_t train_samples_per_epoch() const { return train_samples_; }
  int64_t validation_samples() const { return validation_samples_; }
  const DocumentSplit& split() const { return split_; }
  const TokenFile& file() const { return *file_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // `tokens` has T+1 entries, `mask` T; mask[t] is 1 when the label
  // tokens[t + 1] counts. A wrong extent is LS_CHECKed.
  absl::Status TrainSample(uint64_t global_index, std::span<int32_t> tokens,
                           std::span<uint8_t> mask) const;
  absl::Status ValidationSample(int64_t index, std::span<int32_t> tokens,
                                std::span<uint8_t> mask) const;

  absl::StatusOr<SampleLocation> Locate(uint64_t global_index) const;

  std::vector<DataFileIdentity> Identities() const;

 private:
  Dataset() = default;

  absl::Status CountSamples(double validation_fraction,
                            const DataNotice& notice);

  int64_t sequence_ = 0;
  uint64_t seed_ = 0;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<TokenFile> file_;
  DocumentSplit split_;
  int64_t train_samples_ = 0;
  int64_t validation_samples_ = 0;
};

}  // namespace lockstep

#endif  // DATA_DATASET_H_
