// `lockstep data order`: which samples each step reads on which rank, without
// training.
//
// A step's samples follow from the batch schedule and the skip list alone.
// Steps that a run has done are given as it did them: its metrics say where
// each began and how many it took, whatever the recipe says by now.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/ledger.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/recorded_steps.h"
#include "tools/run_setup.h"
#include "tools/skip_adoption.h"
#include "tools/skip_list.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;
using Samples = std::vector<uint64_t>;

class DataOrder {
 public:
  explicit DataOrder(const DataOrderOptions& options)
      : options_(options), fs_(*PosixFileSystem()) {}

  absl::StatusOr<std::string> Text();

 private:
  absl::Status Open();
  absl::Status OpenDataset();
  int64_t BatchSize() const {
    return config_.batches.At(static_cast<int64_t>(seen_));
  }
  void StandBefore(int64_t step);
  absl::StatusOr<Samples> TakeStep(int64_t step);
  absl::Status AppendStep(int64_t step, const Samples& samples,
                          std::string& text) const;
  absl::Status AppendLocations(const Samples& samples, std::string& text) const;

  const DataOrderOptions& options_;
  FileSystem& fs_;
  RunConfig config_;
  RecordedSteps recorded_;
  SampleStream order_;
  uint64_t cursor_ = 0;  // before the step at hand
  uint64_t seen_ = 0;
  std::unique_ptr<Dataset> dataset_;
};

absl::Status CheckSteps(const DataOrderOptions& options) {
  const int64_t to = options.to.value_or(options.from);
  if (options.from >= 1 && to >= options.from) return absl::OkStatus();
  return InputError("these are no steps",
                    absl::StrCat("--from ", options.from, " --to ", to),
                    "give two steps from 1 on, the first one first");
}

absl::Status DataOrder::Open() {
  LS_RETURN_IF_ERROR(CheckSteps(options_));
  if (!options_.run_dir.empty()) {
    LS_RETURN_IF_ERROR(CheckRunExists(fs_, options_.run_dir));
    LS_ASSIGN_OR_RETURN(const LedgerReport ledger,
                        ReadLedger(fs_, options_.run_dir));
    LS_ASSIGN_OR_RETURN(const auto skips, RecordedSkips(ledger.entries));
    order_ = SampleStream(skips);
    LS_ASSIGN_OR_RETURN(recorded_, RecordedSteps::Read(fs_, options_.run_dir));
  }
  LS_ASSIGN_OR_RETURN(
      ResolvedRun run,
      ResolveRun(fs_, options_.recipe, options_.sets, options_.run_dir));
  config_ = std::move(run.config);
  return options_.json ? absl::OkStatus() : OpenDataset();
}

// Nothing is prepared here: what is not yet tokens has no documents.
absl::Status DataOrder::OpenDataset() {
  if (!options_.run_dir.empty()) {
    LS_ASSIGN_OR_RETURN(const Manifest manifest,
                        ManifestOfStep(fs_, options_.run_dir, options_.from));
    LS_ASSIGN_OR_RETURN(const RunConfig stored,
                        StoredConfig(fs_, options_.run_dir, manifest, {}));
    LS_ASSIGN_OR_RETURN(
        dataset_, OpenStoredData(fs_, options_.run_dir, manifest, stored));
    return absl::OkStatus();
  }
  for (const DataSourceConfig& source : config_.data.sources) {
    if (source.path.empty()) return absl::OkStatus();
  }
  LS_ASSIGN_OR_RETURN(
      dataset_,
      Dataset::Open(fs_, config_.data, "", config_.seed, config_.model.vocab));
  return absl::OkStatus();
}

void DataOrder::StandBefore(int64_t step) {
  const int64_t done = std::min(recorded_.last(), step - 1);
  if (!recorded_.Has(done)) {
    seen_ = static_cast<uint64_t>(config_.batches.SamplesAfter(step - 1));
    cursor_ = order_.CursorAfter(0, seen_);
    return;
  }
  seen_ = recorded_.Count(done, "samples_seen");
  cursor_ = recorded_.Count(done, "sample_last") + 1;
  for (int64_t s = done + 1; s < step; ++s) {
    const auto batch = static_cast<uint64_t>(BatchSize());
    cursor_ = order_.CursorAfter(cursor_, batch);
    seen_ += batch;
  }
}

absl::StatusOr<Samples> DataOrder::TakeStep(int64_t step) {
  const bool done = recorded_.Has(step);
  const int64_t batch =
      done ? static_cast<int64_t>(recorded_.Count(step, "samples_seen") - seen_)
           : BatchSize();
  LS_ASSIGN_OR_RETURN(Samples samples, order_.Take(cursor_, batch));
  cursor_ = order_.CursorAfter(cursor_, samples.size());
  seen_ += samples.size();
  if (!done) return samples;
  if (!samples.empty() &&
      samples.front() == recorded_.Count(step, "sample_first") &&
      samples.back() == recorded_.Count(step, "sample_last")) {
    return samples;
  }
  return ManifestMismatch(
      "the run read other samples than its ledger and metrics say together",
      absl::StrCat(options_.run_dir, "/metrics.jsonl, step ", step),
      "one of the two files was changed");
}

absl::Status DataOrder::AppendLocations(const Samples& samples,
                                        std::string& text) const {
  if (dataset_ == nullptr) return absl::OkStatus();
  for (const uint64_t sample : samples) {
    LS_ASSIGN_OR_RETURN(const SampleLocation at, dataset_->Locate(sample));
    absl::StrAppend(&text, "    sample ", sample, "  ",
                    dataset_->source(at.source).file().prefix(), "  epoch ",
                    at.epoch, "  token ", at.first_token, "  document ",
                    at.first_document, " + ", at.document_offset,
                    " to document ", at.last_document, "\n");
  }
  return absl::OkStatus();
}

// Replicas get whole consecutive micro-batches, the first (n mod d) one more.
absl::Status DataOrder::AppendStep(int64_t step, const Samples& samples,
                                   std::string& text) const {
  const int64_t ranks = config_.parallel.data.value_or(1);
  const auto micro = static_cast<size_t>(config_.batch.micro);
  const auto batches = static_cast<int64_t>(samples.size() / micro);
  auto next = samples.begin();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const int64_t count = batches / ranks + (rank < batches % ranks ? 1 : 0);
    const Samples mine(next, next + count * config_.batch.micro);
    next += count * config_.batch.micro;
    if (options_.json) {
      const Json line = {{"step", step}, {"rank", rank}, {"samples", mine}};
      absl::StrAppend(&text, line.dump(), "\n");
      continue;
    }
    absl::StrAppend(&text, "step ", step, "  rank ", rank, "  samples ",
                    absl::StrJoin(mine, " "), "\n");
    LS_RETURN_IF_ERROR(AppendLocations(mine, text));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DataOrder::Text() {
  LS_RETURN_IF_ERROR(Open());
  std::string text;
  if (!options_.json && dataset_ == nullptr) {
    text = "# no documents: texts are not prepared; name a run by --run\n";
  }
  StandBefore(options_.from);
  for (int64_t step = options_.from;
       step <= options_.to.value_or(options_.from); ++step) {
    LS_ASSIGN_OR_RETURN(const Samples samples, TakeStep(step));
    LS_RETURN_IF_ERROR(AppendStep(step, samples, text));
  }
  return text;
}

}  // namespace

absl::StatusOr<Answer> DataOrderVerb(const DataOrderOptions& options) {
  LS_ASSIGN_OR_RETURN(const std::string text, DataOrder(options).Text());
  return Answer{text};
}

}  // namespace lockstep
