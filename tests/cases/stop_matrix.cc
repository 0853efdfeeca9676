#include "tests/cases/stop_matrix.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/check.h"
#include "determinism/file_system.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

constexpr const char* kPlaceNames[kStopPlaces] = {
    "first", "micro", "before", "at", "after", "eval", "save"};
constexpr const char* kSavePoints[kGenerations] = {
    "save.shard.write", "save.index.sync", "save.step.rename"};

// Data of the kind. Epochs are of 16 samples but where batches change late.
std::string DataOf(const std::string& kind) {
  const std::string name = "matrix_" + kind;
  if (kind == "blend") {
    return SourceOf(WriteSamples(name + "_a", 8, 1)) +
           SourceOf(WriteSamples(name + "_b", 8, 2));
  }
  if (kind == "stages") {
    return "[[data.weights_schedule]]\nfrom_sample = 18\nweights = [0.3, 0.7]\n"
           "[[data.weights_schedule]]\nfrom_sample = 36\nweights = [1, 0]\n" +
           SourceOf(WriteSamples(name + "_a", 16, 1)) +
           SourceOf(WriteSamples(name + "_b", 12, 2), "weight = 0\n");
  }
  const std::string source =
      SourceOf(WriteSamples(name, kind == "late_batches" ? 8 : 16));
  return kind == "reset" ? "reset_at_documents = true\n" + source : source;
}

std::vector<std::string> SetsOf(const std::string& kind) {
  if (kind == "fp16") {
    return {"precision.mode=fp16", "precision.initial_scale=16777216"};
  }
  if (kind == "dropout") return {"model.hidden_dropout=0.1"};
  if (kind == "batches") return {"batch.schedule=0:4,16:8"};
  if (kind == "spike") {
    return {"spike.action=skip", "spike.window=8", "spike.warmup=4"};
  }
  if (kind == "late_batches") {
    return {"schedule.shape=constant", "schedule.warmup=0",
            "schedule.min_lr=0"};
  }
  return {};
}

// Where the launch is killed, as a fault; empty where it stops by itself.
std::string KillAt(const Launch& launch, int64_t generation) {
  const int64_t end = 4 * generation, every = launch.save_every;
  switch (launch.place) {
    case StopPlace::kFirstStep:
      return "kind=kill,at=step.end";
    case StopPlace::kInAccumulation:
      return absl::StrCat("kind=kill,at=micro.end,step=", end - 1);
    case StopPlace::kInEvaluation:
      return absl::StrCat("kind=kill,at=save.eval.write,step=", end - 2);
    case StopPlace::kInSave:
      return absl::StrCat("kind=kill,at=", kSavePoints[generation - 1],
                          ",step=", (end - 2 + every) / every * every);
    case StopPlace::kBeforeEpochEnd:
    case StopPlace::kAtEpochEnd:
    case StopPlace::kAfterEpochEnd:
      return "";
  }
  LS_CHECK(false) << static_cast<int>(launch.place);
  return "";
}

}  // namespace

const std::vector<std::string>& MatrixKinds() {
  static const auto* const kinds = new std::vector<std::string>{
      "single",  "blend",   "stages",       "reset", "fp16",
      "dropout", "batches", "late_batches", "spike", "skip"};
  return *kinds;
}

std::string Combination::Name() const {
  std::string name = kind;
  for (const Launch& launch : launches) {
    absl::StrAppend(&name, "_", kPlaceNames[static_cast<int>(launch.place)],
                    launch.micro, launch.threads, launch.save_every);
  }
  return name;
}

UnbrokenRun::UnbrokenRun(const std::string& kind)
    : kind_(kind), recipe_(WriteSmallRecipe("matrix_" + kind, DataOf(kind))) {
  const TrainRig rig = SmallRig("matrix_" + kind);
  unseed_ = rig.Unseed(Options(Launch(), kGenerations));
  metrics_ = rig.Metrics();
  evaluations_ = rig.Read("eval.jsonl");
  EXPECT_EQ(metrics_.size(), static_cast<size_t>(kMatrixSteps));
  int64_t skipped = 0;
  for (const std::string& line : metrics_) {
    skipped += absl::StrContains(line, "\"skipped\":true") ? 1 : 0;
  }
  EXPECT_EQ(skipped > 0, kind == "fp16" || kind == "spike");
}

RigOptions UnbrokenRun::Options(const Launch& launch,
                                int64_t generation) const {
  RigOptions options = {.recipe = recipe_,
                        .sets = SetsOf(kind_),
                        .steps = kMatrixSteps,
                        .threads = launch.threads};
  options.sets.insert(
      options.sets.end(),
      {absl::StrCat("batch.micro=", launch.micro),
       absl::StrCat("checkpoint.every=", launch.save_every), "eval.every=2"});
  if (kind_ == "late_batches" && generation > 1) {
    options.sets.push_back("batch.schedule=0:4,24:8");
  }
  // Of every micro-batch, so that their size does not matter.
  if (kind_ == "spike") {
    options.faults = {
        "kind=spike,step=7,at=lm_head.loss.forward,occurrence=all"};
  }
  // Asked for once, by a launch that may be killed before it saves.
  if (kind_ == "skip" && (generation == 1 || unseed_.empty())) {
    options.skip_samples = {"3-3", "10-17", "14-21", "40-55"};
  }
  options.allow = {"dirty", "layout", "batch.schedule", "schedule"};
  return options;
}

// Every place lies beyond where the generation before can have stopped.
void UnbrokenRun::TrainUntil(const Launch& launch, int64_t generation,
                             const TrainRig& rig) const {
  RigOptions options = Options(launch, generation);
  const std::string kill = KillAt(launch, generation);
  if (!kill.empty()) {
    options.faults.push_back(kill);
    return rig.TrainUntilKilled(options);
  }
  options.until = 4 * generation + static_cast<int64_t>(launch.place) -
                  static_cast<int64_t>(StopPlace::kAtEpochEnd);
  rig.Unseed(options);
}

int64_t UnbrokenRun::Compare(const Combination& combination) const {
  const std::string name = combination.Name();
  const TrainRig rig = SmallRig("matrix");
  for (int64_t g = 1; g <= kGenerations; ++g) {
    TrainUntil(combination.launches[static_cast<size_t>(g - 1)], g, rig);
  }
  EXPECT_EQ(rig.Unseed(Options(Launch(), kGenerations)), unseed_) << name;
  const std::vector<std::string> metrics = rig.Metrics();
  EXPECT_TRUE(SameLines(metrics, metrics_)) << name;
  EXPECT_EQ(rig.Read("eval.jsonl"), evaluations_) << name;
  return static_cast<int64_t>(metrics.size());
}

}  // namespace lockstep
