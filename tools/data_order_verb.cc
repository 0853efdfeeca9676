// `lockstep data order`: which samples each step reads on which rank, without
// training.
//
// step_order.h says which; this file says on which rank, and where in which
// token file each lies.
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tools/recipe_of_run.h"
#include "tools/run_setup.h"
#include "tools/step_order.h"
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
  absl::Status AppendStep(int64_t step, const Samples& samples,
                          std::string& text) const;
  absl::Status AppendLocations(const Samples& samples, std::string& text) const;

  const DataOrderOptions& options_;
  FileSystem& fs_;
  RunConfig config_;
  std::unique_ptr<Dataset> dataset_;
};

// As many as one answer lists: what is printed is first in memory.
constexpr int64_t kMostListed = int64_t{1} << 22;

absl::Status CheckSteps(const DataOrderOptions& options) {
  const int64_t to = options.to.value_or(options.from);
  if (options.from >= 1 && to >= options.from && to <= kMostSteps) {
    return absl::OkStatus();
  }
  return InputError("these are no steps",
                    absl::StrCat("--from ", options.from, " --to ", to),
                    absl::StrCat("give two steps from 1 to ", kMostSteps,
                                 ", the first one first"));
}

absl::Status DataOrder::Open() {
  LS_RETURN_IF_ERROR(CheckSteps(options_));
  if (!options_.run_dir.empty()) {
    LS_RETURN_IF_ERROR(CheckRunExists(fs_, options_.run_dir));
  }
  LS_ASSIGN_OR_RETURN(
      ResolvedRun run,
      ResolveRun(fs_, options_.recipe, options_.sets, options_.run_dir));
  if (!options_.run_dir.empty()) {
    LS_ASSIGN_OR_RETURN(const Manifest manifest,
                        ManifestOfStep(fs_, options_.run_dir, kMostSteps));
    LS_RETURN_IF_ERROR(CheckOrderIsTheRuns(manifest, run.recipe.ResolvedText(),
                                           options_.run_dir));
  }
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
  StepOrder order(config_.batches);
  if (!options_.run_dir.empty()) {
    LS_ASSIGN_OR_RETURN(
        order, StepOrder::OfRun(fs_, options_.run_dir, config_.batches));
  }
  LS_RETURN_IF_ERROR(order.Seek(options_.from));
  int64_t listed = 0;
  for (int64_t step = options_.from;
       step <= options_.to.value_or(options_.from); ++step) {
    LS_ASSIGN_OR_RETURN(const Samples samples, order.Next());
    listed += static_cast<int64_t>(samples.size());
    if (listed > kMostListed) {
      return InputError(absl::StrCat("more than ", kMostListed, " samples"),
                        absl::StrCat("--from ", options_.from, " --to ", step),
                        "ask for fewer steps at a time");
    }
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
