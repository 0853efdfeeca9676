// `data order` says what runs read: held against whole runs.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/data_order_for_test.h"
#include "tests/train/train_rig.h"
#include "tools/batch_schedule.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;
using Samples = std::vector<uint64_t>;

// Steps done are those of the run, with a batch that changed on the way; steps
// to come are those that it then does.
TEST(DataOrderTest, ItIsWhatTheRunReads) {
  const std::string recipe = WriteRecipe(
      "order", "validation_fraction = 0.01\n" + Source(WriteSource("ord", 16)));
  const TrainRig rig("order");
  rig.Unseed({.recipe = recipe, .steps = 9, .until = 2});
  RigOptions next = {
      .recipe = recipe,
      .sets = {"batch.global=4", "batch.schedule=0:4,24:6",
               "schedule.length=20"},
      .steps = 9,
      .until = 3,
      .allow = {"dirty", "batch.global", "batch.schedule", "schedule"},
      .skip_samples = {"18-18", "10-21", "40-50"}};
  rig.Unseed(next);
  DataOrderOptions options = {.recipe = recipe,
                              .sets = kSmall,
                              .run_dir = rig.dir(),
                              .from = 1,
                              .to = 9,
                              .json = true};
  options.sets.push_back("batch.global=4");
  options.sets.push_back("batch.schedule=0:4,24:6");
  const std::vector<Json> order = Order(options);
  ASSERT_EQ(order.size(), 9u);
  EXPECT_EQ(order[2]["samples"], (Samples{22, 23, 24, 25}));
  EXPECT_EQ(order[3]["samples"], (Samples{26, 27, 28, 29}));
  EXPECT_EQ(order[4]["samples"], (Samples{30, 31, 32, 33, 34, 35}));
  options.from = 7;  // some steps beyond the last one done
  EXPECT_EQ(Order(options), std::vector<Json>(order.begin() + 6, order.end()));
  options.from = 1;
  next.until.reset();
  rig.Unseed(next);
  EXPECT_EQ(Order(options), order);
  const std::vector<std::string> metrics = rig.Metrics();
  ASSERT_EQ(metrics.size(), 9u);
  for (size_t i = 0; i < 9; ++i) {
    const Json line = Json::parse(metrics[i]);
    const Samples samples = order[i]["samples"];
    EXPECT_EQ(order[i]["step"], i + 1);
    EXPECT_EQ(order[i]["rank"], 0);
    EXPECT_EQ(line["sample_first"], samples.front());
    EXPECT_EQ(line["sample_last"], samples.back());
    const uint64_t before =
        i == 0 ? 0
               : Json::parse(metrics[i - 1])["samples_seen"].get<uint64_t>();
    EXPECT_EQ(line["samples_seen"], before + samples.size());
  }
}

// n micro-batches over d replicas: whole and consecutive, the first n mod d
// one more.
TEST(DataOrderTest, RanksShareAStepInWholeMicroBatches) {
  DataOrderOptions options = {.recipe = "recipes/debug.toml",
                              .sets = {"parallel.data=3", "batch.global=16"},
                              .from = 2,
                              .json = true};
  const std::vector<Json> order = Order(options);
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[0]["samples"], (Samples{16, 17, 18, 19, 20, 21}));
  EXPECT_EQ(order[1]["samples"], (Samples{22, 23, 24, 25, 26, 27}));
  EXPECT_EQ(order[2]["samples"], (Samples{28, 29, 30, 31}));
  EXPECT_EQ(order[2]["rank"], 2);
  EXPECT_EQ(order[2]["step"], 2);
}

TEST(DataOrderTest, TextSaysWhereSamplesLie) {
  const std::string recipe = WriteRecipe(
      "where", "validation_fraction = 0.01\n" + Source(WriteSource("whe", 16)));
  const auto answer =
      DataOrderVerb({.recipe = recipe, .sets = kSmall, .from = 3});
  ASSERT_TRUE(answer.ok()) << std::string(answer.status().message());
  // The third step of 8 begins the second epoch of 16.
  EXPECT_TRUE(
      absl::StrContains(answer->text, "step 3  rank 0  samples 16 17 18"));
  EXPECT_TRUE(absl::StrContains(answer->text, "sample 16  "));
  EXPECT_TRUE(absl::StrContains(answer->text, "/whe  epoch 1  token "));
  const auto unprepared =
      DataOrderVerb({.recipe = "recipes/debug.toml", .from = 1});
  ASSERT_TRUE(unprepared.ok());
  EXPECT_TRUE(absl::StrContains(unprepared->text, "# no documents"));
}

TEST(DataOrderTest, WhatAreNoStepsOrNoRunIsRefused) {
  for (const auto& [from, to] : {std::pair<int64_t, int64_t>{0, 3},
                                 {4, 3},
                                 {1, kMostSteps + 1},
                                 {kMostSteps + 1, kMostSteps + 1},
                                 {std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::max()},
                                 {1, kMostSteps}}) {  // too much to list
    const auto answer = DataOrderVerb(
        {.recipe = "recipes/debug.toml", .from = from, .to = to, .json = true});
    EXPECT_EQ(ExitCodeFor(answer.status()), 2);
  }
  const auto answer = DataOrderVerb({.recipe = "recipes/debug.toml",
                                     .run_dir = testing::TempDir() + "/none",
                                     .from = 1});
  EXPECT_EQ(ExitCodeFor(answer.status()), 2);
}

}  // namespace
}  // namespace lockstep
