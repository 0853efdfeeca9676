// What a training step reads: sample g of the run, and the held-out samples.
//
// A sample is a pure function of (seed, recipe, global sample index): the blend
// names a source and how many of it came before (blend.h), the order names its
// sample s (order.h), and the sample is tokens sT .. sT+T inclusive of the
// source's training documents (data_source.h). Inputs are the first T, labels
// the last T. The dataset receives integers and knows no ranks, no batch and no
// cursor: where a run stands is the global sample index, which the trainer
// owns.
//
// Each source holds out its own last documents. Immutable after Open; safe to
// use from several threads.

#ifndef DATA_DATASET_H_
#define DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/blend.h"
#include "data/data_config.h"
#include "data/data_source.h"
#include "data/split.h"
#include "data/token_store.h"
#include "data/tokenizer.h"
#include "determinism/file_system.h"

namespace lockstep {

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
  bool reset_at_documents() const { return reset_at_documents_; }
  int64_t source_count() const { return static_cast<int64_t>(sources_.size()); }
  const DataSource& source(int64_t i) const { return sources_[i]; }
  const Blend& blend() const { return blend_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  int64_t validation_samples(int64_t source) const {
    return sources_[source].validation_samples();
  }
  int64_t validation_samples() const;  // of all sources

  absl::Status TrainSample(uint64_t global_index, const SampleRows& rows) const;
  absl::Status ValidationSample(int64_t source, int64_t index,
                                const SampleRows& rows) const {
    return sources_[source].ValidationSample(index, rows);
  }

  // For a person: how many of the samples first .. last - 1 each source gives,
  // and how many epochs that is; a source that gives none is said to.
  std::string DescribeDraws(uint64_t first, uint64_t last) const;

  absl::StatusOr<SampleLocation> Locate(uint64_t global_index) const;

  std::vector<DataFileIdentity> Identities() const;

 private:
  Dataset() = default;

  absl::Status MakeBlend(const DataConfig& config, const DataNotice& notice);
  uint64_t SampleOf(const BlendDraw& draw) const;

  int64_t sequence_ = 0;
  bool reset_at_documents_ = false;
  uint64_t seed_ = 0;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::vector<DataSource> sources_;
  Blend blend_;
};

}  // namespace lockstep

#endif  // DATA_DATASET_H_
