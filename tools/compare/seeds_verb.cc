#include "tools/compare/seeds_verb.h"

#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "determinism/status.h"
#include "tools/compare/lineage.h"
#include "tools/compare/spread_file.h"
#include "tools/output_check.h"
#include "tools/run_setup.h"
#include "tools/status.h"

namespace lockstep {
namespace {

class SeedRuns {
 public:
  explicit SeedRuns(const SeedsOptions& options)
      : options_(options), fs_(*PosixFileSystem()) {}

  absl::StatusOr<Answer> Run();

 private:
  absl::Status Plan();
  absl::StatusOr<ComparedRun> RunOf(uint64_t seed);
  absl::StatusOr<bool> IsDone(const std::string& dir,
                              const ResolvedRun& run) const;
  absl::Status Train(const std::string& dir,
                     const std::vector<std::string>& sets) const;
  absl::Status CheckMatched() const;
  Spread TakeSpread() const;
  void Say(const std::string& line) const;

  const SeedsOptions& options_;
  FileSystem& fs_;
  uint64_t first_seed_ = 0;
  std::string folder_, identity_;
  std::vector<ComparedRun> runs_;
};

void SeedRuns::Say(const std::string& line) const {
  if (!options_.quiet) std::fprintf(stderr, "lockstep: %s\n", line.c_str());
}

// All that can be refused is, before the first run.
absl::Status SeedRuns::Plan() {
  LS_ASSIGN_OR_RETURN(const ResolvedRun run,
                      ResolveRun(fs_, options_.recipe, options_.sets, ""));
  if (!(run.config.data.validation_fraction > 0)) {
    return InputError("the recipe holds no documents out to evaluate on",
                      options_.recipe + ", data.validation_fraction",
                      "set it to a share such as 0.05");
  }
  first_seed_ = run.config.seed;
  const auto more = static_cast<uint64_t>(options_.seeds - 1);
  if (first_seed_ > static_cast<uint64_t>(INT64_MAX) - more) {
    return InputError(absl::StrCat("there are no ", options_.seeds,
                                   " seeds from ", first_seed_, " on"),
                      options_.recipe + ", seed", "set a smaller one");
  }
  identity_ = IdentityOf(WithoutSeed(run.recipe.TrajectoryText()));
  folder_ = options_.folder.empty()
                ? absl::StrCat("runs/seeds-", run.recipe.name(), "-",
                               identity_.substr(0, 8))
                : options_.folder;
  if (options_.out.empty()) return absl::OkStatus();
  return CheckOutputFile(fs_, options_.out, "--out");
}

// Whether the run in `dir` has done its steps. InputError for another recipe's.
absl::StatusOr<bool> SeedRuns::IsDone(const std::string& dir,
                                      const ResolvedRun& run) const {
  if (!fs_.Exists(dir + "/manifest.json")) return false;
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs_, dir));
  if (manifest.recipe.trajectory != run.recipe.TrajectoryHash()) {
    return InputError("this folder has a run of another recipe", dir,
                      "name another --runs folder, or remove this run");
  }
  LS_ASSIGN_OR_RETURN(const auto status, RunStatus(fs_, dir));
  return status["step"] >= run.config.Steps() &&
         !status["checkpoint"].is_null();
}

absl::Status SeedRuns::Train(const std::string& dir,
                             const std::vector<std::string>& sets) const {
  TrainOptions train;
  train.recipe = options_.recipe;
  train.sets = sets;
  train.run_dir = dir;
  train.allow = options_.allow;
  train.reason = options_.reason;
  train.threads = options_.threads;
  train.ranks = options_.ranks;
  train.quiet = options_.quiet || options_.json;
  return TrainVerb(train).status();
}

absl::StatusOr<ComparedRun> SeedRuns::RunOf(uint64_t seed) {
  const std::string dir = absl::StrCat(folder_, "/seed_", seed);
  std::vector<std::string> sets = options_.sets;
  sets.push_back(absl::StrCat("seed=", seed));
  LS_ASSIGN_OR_RETURN(const ResolvedRun run,
                      ResolveRun(fs_, options_.recipe, sets, dir));
  LS_ASSIGN_OR_RETURN(const bool done, IsDone(dir, run));
  if (!done) LS_RETURN_IF_ERROR(Train(dir, sets));
  LS_ASSIGN_OR_RETURN(ComparedRun result,
                      ReadComparedRun(fs_, dir, options_.threads));
  Say(absl::StrFormat("seed %d (%d of %d)%s: held-out loss %.6f", seed,
                      runs_.size() + 1, options_.seeds,
                      done ? ", done before" : "", result.evaluation.loss));
  return result;
}

absl::Status SeedRuns::CheckMatched() const {
  const auto mismatches = MismatchesWithin(runs_);
  if (mismatches.empty()) return absl::OkStatus();
  return ManifestMismatch(
      absl::StrCat("these runs differ in more than their seeds:\n    ",
                   absl::StrJoin(mismatches, "\n    ")),
      folder_, "remove the runs that were made otherwise, and call again");
}

Spread SeedRuns::TakeSpread() const {
  const ComparedRun& first = runs_.front();
  Spread spread;
  spread.recipe = first.manifest.recipe.name;
  spread.trajectory_text = WithoutSeed(first.manifest.recipe.trajectory_text);
  spread.tokenizer = first.manifest.tokenizer.hash;
  spread.tokens = first.evaluation.tokens;
  spread.samples = first.evaluation.samples;
  for (const ComparedRun& run : runs_) {
    spread.runs.push_back({.run = run.dir,
                           .seed = run.manifest.root_seed,
                           .step = run.evaluation.step,
                           .loss = run.evaluation.loss});
  }
  return spread;
}

std::string SpreadText(const nlohmann::ordered_json& spread,
                       const std::string& path) {
  std::string text;
  for (const auto& run : spread["runs"]) {
    absl::StrAppendFormat(&text, "seed %-6d held-out loss %.6f  %s\n",
                          run["seed"].get<int64_t>(), run["loss"].get<double>(),
                          run["run"].get<std::string>());
  }
  absl::StrAppendFormat(&text, "mean %.6f", spread["mean"].get<double>());
  if (spread["sd"].is_null()) {
    text += ", no spread: one run has none\n";
  } else {
    absl::StrAppendFormat(&text, ", sd %.6f, 95 %% interval [%.6f, %.6f]\n",
                          spread["sd"].get<double>(),
                          spread["sd_interval"][0].get<double>(),
                          spread["sd_interval"][1].get<double>());
  }
  absl::StrAppend(&text, "identity ", spread["identity"].get<std::string>(),
                  ", written to ", path, "\n");
  return text;
}

absl::StatusOr<Answer> SeedRuns::Run() {
  LS_RETURN_IF_ERROR(Plan());
  for (int64_t i = 0; i < options_.seeds; ++i) {
    LS_ASSIGN_OR_RETURN(ComparedRun run,
                        RunOf(first_seed_ + static_cast<uint64_t>(i)));
    runs_.push_back(std::move(run));
  }
  LS_RETURN_IF_ERROR(CheckMatched());
  const nlohmann::ordered_json spread = SpreadJson(TakeSpread());
  const std::string path =
      options_.out.empty() ? folder_ + "/spread.json" : options_.out;
  LS_RETURN_IF_ERROR(WriteFileAtomically(fs_, path, spread.dump(1) + "\n"));
  return Answer{options_.json ? spread.dump() + "\n"
                              : SpreadText(spread, path)};
}

}  // namespace

absl::StatusOr<Answer> SeedsVerb(const SeedsOptions& options) {
  return SeedRuns(options).Run();
}

}  // namespace lockstep
