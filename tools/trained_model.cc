#include "tools/trained_model.h"

#include <cstdio>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/find.h"
#include "data/kept_tokenizer.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "parallel/thread_comm.h"
#include "tools/recipe_of_run.h"
#include "tools/recipe_values.h"
#include "tools/restore.h"

namespace lockstep {

absl::StatusOr<std::unique_ptr<TrainedModel>> TrainedModel::Load(
    FileSystem& fs, const RunConfig& config, const std::string& run_dir,
    const std::string& checkpoint, const Machine& machine,
    const Dataset* dataset) {
  std::unique_ptr<TrainedModel> model(new TrainedModel);
  model->communicator_ = std::move(MakeThreadComms(1).front());
  model->stepper_ = std::make_unique<Stepper>(
      config, StepperOptions{machine.threads, machine.isa, 0}, dataset,
      LayoutOfOne(model->communicator_.get()), nullptr);
  const ResumeRequest request =
      ParseResume(checkpoint.empty() ? "must" : checkpoint);
  LS_RETURN_IF_ERROR(model->LoadNewest(fs, run_dir, request));
  return model;
}

absl::Status TrainedModel::LoadNewest(FileSystem& fs,
                                      const std::string& run_dir,
                                      ResumeRequest request) {
  for (;;) {
    LS_ASSIGN_OR_RETURN(const FoundCheckpoint found,
                        FindCheckpoint(fs, run_dir, request, ""));
    const absl::Status loaded =
        RestoreStepper(fs, *stepper_, found.dir).status();
    if (absl::IsDataLoss(loaded) && request.mode != ResumeMode::kPath) {
      request.unfit[found.dir] = WhyUnfit(loaded);
      continue;
    }
    LS_RETURN_IF_ERROR(loaded);
    for (const std::string& note : found.notes) {
      std::fprintf(stderr, "lockstep: %s; step %lld is used\n", note.c_str(),
                   static_cast<long long>(found.step));
    }
    step_ = found.step;
    return absl::OkStatus();
  }
}

absl::Status CheckRunExists(FileSystem& fs, const std::string& run_dir) {
  if (fs.Exists(JoinPath(run_dir, kIndexFile))) {
    return InputError("this is a checkpoint's folder", run_dir,
                      "name the run's, in which `checkpoints` lies");
  }
  if (fs.Exists(run_dir + "/manifest.json")) return absl::OkStatus();
  return InputError("there is no run here", run_dir,
                    "name the folder that `lockstep train` wrote to");
}

absl::StatusOr<RunConfig> ConfigOfRun(FileSystem& fs,
                                      const std::string& run_dir) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs, run_dir));
  return ConfigOfManifest(manifest, run_dir + "/manifest.json");
}

namespace {

absl::Status CheckKept(const std::string& path) {
  if (PosixFileSystem()->Exists(path)) return absl::OkStatus();
  return InputError("the run's copy of its tokenizer is gone", path,
                    "call `lockstep train` with the run's recipe again: it "
                    "copies the model anew, also where no step is left to do");
}

// Every line of the resolved text is "key = value", which --set takes without
// the blanks; a key without a value, or that follows from others, is no line.
absl::StatusOr<Recipe> RecipeOfManifest(const Manifest& manifest,
                                        const std::string& where,
                                        const std::vector<std::string>& sets) {
  std::set<std::string> overridden;
  for (const std::string& set : sets) {
    overridden.insert(set.substr(0, set.find('=')));
  }
  std::vector<std::string> all;
  for (const auto line :
       absl::StrSplit(manifest.recipe.text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> entry =
        absl::StrSplit(line, absl::MaxSplits(" = ", 1));
    const auto& [key, value] = entry;
    if (value == "none" || value == "\"\"") continue;
    if (FollowsFromOthers(key) || overridden.contains(key)) continue;
    if (key == "data.tokenizer" && value != "\"byte\"") {
      // The path counts from a recipe that may be gone; the run has a copy.
      const std::string kept = KeptTokenizerName(manifest.tokenizer.hash);
      LS_RETURN_IF_ERROR(CheckKept(JoinPath(DirName(where), kept)));
      all.push_back(absl::StrCat(key, "=\"", kept, "\""));
      continue;
    }
    all.push_back(key + "=" + value);
  }
  all.insert(all.end(), sets.begin(), sets.end());
  return Recipe::FromText("", where, all);
}

}  // namespace

absl::StatusOr<RunConfig> ConfigOfManifest(
    const Manifest& manifest, const std::string& where,
    const std::vector<std::string>& sets) {
  LS_ASSIGN_OR_RETURN(Recipe recipe, RecipeOfManifest(manifest, where, sets));
  return ReadRunConfig(recipe, manifest.schedule_length_samples);
}

absl::StatusOr<std::vector<std::string>> OtherModelBySets(
    const Manifest& manifest, const std::string& where,
    const std::vector<std::string>& sets) {
  LS_ASSIGN_OR_RETURN(Recipe recipe, RecipeOfManifest(manifest, where, sets));
  LS_RETURN_IF_ERROR(
      ReadRunConfig(recipe, manifest.schedule_length_samples).status());
  return OtherModel(manifest.recipe.text, recipe.ResolvedText());
}

}  // namespace lockstep
