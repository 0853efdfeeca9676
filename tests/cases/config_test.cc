// Options: where a value comes from, and that no checkpoint brings its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// A checkpoint's options overrode the command line's, or a temporary override
// stayed (NVIDIA/Megatron-LM#2616, THUDM/slime#2243). The command line wins
// over the file; where a run was made with another value the conflict is told
// with both, and an allowed one is on record and in force.
TEST(ConfigCaseTest, TheCommandLineWinsAndEveryConflictIsTold) {
  const TrainRig rig = SmallRig("wins");
  RigOptions options = {.recipe = SmallRecipe("wins", 24),
                        .sets = {"schedule.shape=constant", "schedule.warmup=0",
                                 "schedule.min_lr=0", "optimizer.lr=1e-3"},
                        .steps = 12,
                        .until = 4};
  rig.Unseed(options);
  options.sets.back() = "optimizer.lr=5e-4";
  options.until = 8;
  const RigResult refused = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(refused.status), 3);
  for (const char* told : {"optimizer.lr", "0.001", "5e-04"}) {
    EXPECT_TRUE(absl::StrContains(refused.status.message(), told))
        << refused.status.message();
  }
  options.allow = {"dirty", "optimizer.lr"};
  rig.Unseed(options);
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "optimizer.lr"));
  const std::vector<Json> lines = Lines(rig);
  ASSERT_EQ(lines.size(), 8u);
  for (const Json& line : lines) {
    EXPECT_EQ(line["lr"], line["step"] <= 4 ? 1e-3 : 5e-4);
  }
  RecipeOptions show;
  show.recipe = options.recipe;
  show.sets = options.sets;
  const std::string text = RecipeShowVerb(show)->text;
  const size_t at = text.find("lr = 5e-04");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string line = text.substr(at, text.find('\n', at) - at);
  EXPECT_TRUE(absl::StrContains(line, "--set")) << line;
}

// Threads, micro-batch and intervals are the launch's; a checkpoint that was
// saved under others does not bring them back.
TEST(ConfigCaseTest, ALaunchsOwnSettingsAreNotTheCheckpoints) {
  const TrainRig rig = SmallRig("own_settings");
  RigOptions options = {
      .recipe = SmallRecipe("own_settings", 24),
      .sets = {"checkpoint.every=1", "eval.every=1", "batch.micro=1"},
      .steps = 9,
      .threads = 1,
      .until = 3};
  rig.Unseed(options);
  options.sets = {"checkpoint.every=3", "batch.micro=4"};
  options.threads = 2;
  options.until.reset();
  options.allow = {"dirty", "layout"};
  rig.Unseed(options);
  std::vector<std::string> saved;
  for (const std::string& name : rig.List("checkpoints")) {
    if (absl::StartsWith(name, "step_")) saved.push_back(name);
  }
  EXPECT_EQ(saved, (std::vector<std::string>{"step_00000001", "step_00000002",
                                             "step_00000003", "step_00000006",
                                             "step_00000009"}));
  const std::string evaluations = rig.Read("eval.jsonl");
  EXPECT_EQ(std::count(evaluations.begin(), evaluations.end(), '\n'), 3);
}

// Keys that nobody reads were ignored, and the run went on with defaults
// (unslothai/unsloth#10452, niznik-dev/cruijff_kit#505); one wrong key was told
// a launch (mosaicml/llm-foundry#1344). Six mistakes, one message, no folder.
TEST(ConfigCaseTest, EveryMistakeIsToldAtOnceAndNothingIsMade) {
  const TrainRig rig = SmallRig("mistakes");
  const std::string recipe = WriteSmallRecipe(
      "mistakes",
      SourceOf(WriteSamples("mistakes", 24)) +
          "[optimizer]\nlearning_rate = 1e-3\nweight-decay = 0.1\n"
          "[train]\nlr = 1e-3\nsteps = \"ten\"\n[checkpoint]\nevrey = 3\n"
          "[metrics]\nfingerprint = true\n");
  const RigResult result =
      rig.Train({.recipe = recipe, .sets = {"batch.micro=3"}});
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  for (const char* told :
       {"optimizer.learning_rate", "optimizer.weight_decay", "train.lr",
        "checkpoint.every", "metrics.fingerprints", "mistakes.toml:"}) {
    EXPECT_TRUE(absl::StrContains(result.status.message(), told))
        << "no '" << told << "' in: " << result.status.message();
  }
  EXPECT_FALSE(rig.Exists("manifest.json"));
}

}  // namespace
}  // namespace lockstep
