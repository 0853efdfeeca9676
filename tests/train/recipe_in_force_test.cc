// A run whose launches changed its recipe: each step is done again with the one
// it was made with, whatever checkpoints are left.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "determinism/status.h"
#include "tests/train/explain_for_test.h"
#include "tools/replay_window.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Until(int64_t step, const std::string& lr, int64_t keep) {
  return {.sets = {"checkpoint.every=4", "optimizer.lr=" + lr,
                   absl::StrCat("checkpoint.keep=", keep)},
          .steps = 16,
          .until = step,
          .allow = {"dirty", "optimizer.lr"}};
}

std::vector<std::string> Notes(const TrainRig& rig, int64_t step) {
  const auto json = Explain(rig, step);
  EXPECT_TRUE(json.ok()) << std::string(json.status().message());
  return json.ok() ? (*json)["notes"].get<std::vector<std::string>>()
                   : std::vector<std::string>();
}

// Three recipes, and in between a launch whose steps were made again by the
// next; the last launch has not saved.
TEST(RecipeInForceTest, EveryStepRecursUnderItsOwnRecipe) {
  const TrainRig rig("in_force");
  rig.Unseed(Until(4, "0.003", 100));
  RigOptions killed = Until(8, "0.02", 100);
  killed.faults = {"kind=kill,step=7"};
  rig.TrainUntilKilled(killed);
  rig.Unseed(Until(8, "0.001", 100));
  RigOptions unsaved = Until(16, "0.004", 100);
  unsaved.faults = {"kind=raise,step=12"};
  EXPECT_EQ(ExitCodeFor(rig.Train(unsaved).status), 7);
  ASSERT_EQ(rig.Metrics().size(), 11u);
  for (int64_t step = 1; step <= 11; ++step) {
    const auto json = Explain(rig, step);
    ASSERT_TRUE(json.ok()) << std::string(json.status().message());
    EXPECT_EQ((*json)["verdict"], "recurs_to_the_bit") << step;
    EXPECT_EQ((*json)["first_difference"], 0) << step;
    // It is compared with steps of its own recipe and no others.
    EXPECT_EQ((*json)["began_at"].get<int64_t>(), (step - 1) / 4 * 4) << step;
  }
}

// A window over two recipes is done with one of them, and says so.
TEST(RecipeInForceTest, AWindowOverTwoRecipesIsSaidToBeOne) {
  const TrainRig rig("in_force_window");
  rig.Unseed(Until(4, "0.003", 100));
  rig.Unseed(Until(8, "0.001", 100));
  const auto notes = [&](int64_t from, int64_t to) {
    const auto window =
        ReplayWindow(*PosixFileSystem(), rig.dir(), {.from = from, .to = to});
    EXPECT_TRUE(window.ok()) << window.status().message();
    return window.ok() ? absl::StrJoin(window->notes, "\n") : "";
  };
  EXPECT_TRUE(absl::StrContains(notes(3, 6), "steps 5 to 6 were made with"));
  EXPECT_FALSE(absl::StrContains(notes(5, 6), "another recipe"));
  EXPECT_FALSE(absl::StrContains(notes(3, 4), "another recipe"));
}

// Retention has taken what stood at the changes: steps of the first recipe
// recur from the seed, and of the others it is said why they cannot.
TEST(RecipeInForceTest, WithoutACheckpointOfTheChangeItIsSaid) {
  const TrainRig rig("in_force_gone");
  rig.Unseed(Until(4, "0.003", 1));
  rig.Unseed(Until(8, "0.001", 1));
  rig.Unseed(Until(9, "0.001", 1));
  ASSERT_EQ(rig.List("checkpoints"), std::vector<std::string>{"step_00000009"});
  for (const int64_t step : {1, 3, 4}) {
    EXPECT_EQ(Verdict(rig, step), "recurs_to_the_bit") << step;
    EXPECT_TRUE(Notes(rig, step).empty()) << step;
  }
  EXPECT_EQ(Verdict(rig, 6), "does_not_recur");
  ASSERT_EQ(Notes(rig, 6).size(), 1u);
  EXPECT_TRUE(
      absl::StrContains(Notes(rig, 6)[0], "the recipe changed after step 4"))
      << Notes(rig, 6)[0];
}

// The file that says so is damaged: refused, not guessed.
TEST(RecipeInForceTest, ADamagedLaunchIsRefused) {
  const TrainRig rig("in_force_damaged");
  rig.Unseed(Until(2, "0.003", 100));
  ASSERT_EQ(rig.List("launches").size(), 1u);
  const std::string name = "launches/" + rig.List("launches")[0];
  std::string text = rig.Read(name);
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  rig.Write(name, text);
  EXPECT_EQ(ExitCode(rig, 2), 3);
}

}  // namespace
}  // namespace lockstep
