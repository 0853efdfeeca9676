// `data order --run`: of a fork, and beside a recipe that is not the run's.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/data_order_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Samples = std::vector<uint64_t>;

// A fork's steps begin where its parent's ended, which its own batch cannot
// tell: before its first step, in it, and after.
TEST(DataOrderTest, OfAForkWithOtherBatches) {
  const std::string recipe =
      WriteRecipe("forked", "validation_fraction = 0.01\n" +
                                Source(WriteSource("frk", 16)));
  const TrainRig parent("order_parent"), fork("order_fork");
  parent.Unseed(
      {.recipe = recipe, .steps = 3, .skip_samples = {"4-5", "30-31"}});
  RigOptions options = {.recipe = recipe,
                        .sets = {"batch.global=4", "batch.schedule=0:4,28:6",
                                 "schedule.length=20"},
                        .steps = 7,
                        .until = 3,
                        .fork = parent.dir() + "/checkpoints/step_00000003"};
  fork.Unseed(options);
  DataOrderOptions ask = {.recipe = recipe,
                          .sets = kSmall,
                          .run_dir = fork.dir(),
                          .from = 4,
                          .to = 7,
                          .json = true};
  ask.sets.insert(ask.sets.end(), options.sets.begin(), options.sets.end());
  const std::vector<Json> order = Order(ask);
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[0]["samples"], (Samples{26, 27, 28, 29}));
  EXPECT_EQ(order[1]["samples"], (Samples{32, 33, 34, 35, 36, 37}));
  for (const int64_t until : {4, 6, 7}) {
    options.fork = "";
    options.until = until;
    fork.Unseed(options);
    EXPECT_EQ(Order(ask), order) << until;
  }
  const std::vector<std::string> metrics = fork.Metrics();
  ASSERT_EQ(metrics.size(), 4u);
  for (size_t i = 0; i < metrics.size(); ++i) {
    const Json line = Json::parse(metrics[i]);
    const Samples samples = order[i]["samples"];
    EXPECT_EQ(line["sample_first"], samples.front());
    EXPECT_EQ(line["sample_last"], samples.back());
  }
  ask.from = 3;
  EXPECT_EQ(ExitCodeFor(DataOrderVerb(ask).status()), 2) << "the parent's";
}

// What decides the order must be the run's; the batch is a question.
TEST(DataOrderTest, AnotherRecipeThanTheRunsIsRefusedByKey) {
  const std::string recipe = WriteRecipe(
      "right", "validation_fraction = 0.01\n" + Source(WriteSource("rgt", 16)));
  const std::string wrong = WriteRecipe(
      "wrong", "validation_fraction = 0.02\n" + Source(WriteSource("wrg", 16)));
  const TrainRig rig("order_right");
  rig.Unseed({.recipe = recipe, .steps = 2});
  const auto refused = [&](const std::string& path,
                           const std::vector<std::string>& sets,
                           const std::string& key) {
    DataOrderOptions ask = {.recipe = path,
                            .sets = kSmall,
                            .run_dir = rig.dir(),
                            .from = 1,
                            .to = {},
                            .json = true};
    ask.sets.insert(ask.sets.end(), sets.begin(), sets.end());
    const auto answer = DataOrderVerb(ask);
    EXPECT_EQ(ExitCodeFor(answer.status()), key.empty() ? 0 : 3) << key;
    EXPECT_TRUE(absl::StrContains(answer.status().message(), key))
        << std::string(answer.status().message());
  };
  refused(recipe, {}, "");
  refused(recipe, {"batch.global=4", "optimizer.lr=1", "data.prefetch=1"}, "");
  refused(wrong, {}, "data.source.0.path");
  refused(wrong, {}, "data.validation_fraction: 0.01 -> 0.02");
  refused(recipe, {"data.sequence=16"}, "data.sequence: 32 -> 16");
  refused(recipe, {"seed=5"}, "seed");
}

}  // namespace
}  // namespace lockstep
