#include "tools/batch_schedule.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/data_for_test.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

TEST(BatchScheduleTest, StepsAndSamplesAgreeAtEveryStep) {
  const auto schedule = BatchSchedule::Parse("0:8,20:4,32:16,33:2");
  ASSERT_TRUE(schedule.ok());
  EXPECT_EQ(schedule->sizes(), (std::vector<int64_t>{8, 4, 16, 2}));
  const int64_t expected[] = {8, 8, 8, 4, 4, 16, 2, 2, 2};
  int64_t seen = 0, steps = 0;
  for (const int64_t batch : expected) {
    EXPECT_EQ(schedule->At(seen), batch) << seen;
    EXPECT_EQ(schedule->SamplesAfter(steps), seen);
    EXPECT_EQ(schedule->StepsFor(seen), steps);
    EXPECT_EQ(schedule->StepsFor(seen + 1), steps + 1);
    seen += batch;
    ++steps;
  }
  const BatchSchedule constant(12);
  EXPECT_EQ(constant.At(int64_t{1} << 50), 12);
  EXPECT_EQ(constant.SamplesAfter(1000000007), 12000000084);
  EXPECT_EQ(constant.StepsFor(25), 3);
  EXPECT_EQ(schedule->SamplesAfter(3, 8), 24 + 4);
  EXPECT_EQ(BatchSchedule(kMostBatch).SamplesAfter(kMostSteps),
            int64_t{1} << 52);
}

TEST(BatchScheduleTest, WhatIsNoScheduleIsRefused) {
  for (const char* text :
       {"", "8", "1:8", "0:8,0:4", "0:8,20:0", "0:8,", "0:8,20:-1", "a:b",
        "0:8,5:4,5:3", "0:8:9", "0:9999999999999", "0:16777217"}) {
    EXPECT_EQ(ExitCodeFor(BatchSchedule::Parse(text).status()), 2) << text;
  }
}

// allenai/OLMo-core#273: a change of batch meant another order. Steps 5 on read
// 12 samples each, from the 33rd on, and the blend goes with the sample.
TEST(BatchRunTest, AnotherBatchContinuesAtTheNextSample) {
  const std::string recipe = WriteRecipe(
      "batch", "validation_fraction = 0.01\n" + Source(WriteSource("e", 97)));
  const TrainRig rig("batch");
  rig.Unseed({.recipe = recipe, .steps = 8, .until = 4});
  RigOptions wider = {.recipe = recipe,
                      .sets = {"batch.global=12", "schedule.length=20"},
                      .steps = 8,
                      .until = 6,
                      .allow = {"dirty", "batch.global", "schedule"}};
  const RigResult result = rig.Train(wider);
  ASSERT_TRUE(result.status.ok()) << std::string(result.status.message());
  const std::vector<std::string> metrics = rig.Metrics();
  ASSERT_EQ(metrics.size(), 6u);
  const int64_t firsts[] = {0, 8, 16, 24, 32, 44};
  for (size_t i = 0; i < 6; ++i) {
    const Json line = Json::parse(metrics[i]);
    EXPECT_EQ(line["sample_first"], firsts[i]);
    EXPECT_EQ(line["sample_last"], firsts[i] + (i < 4 ? 7 : 11));
  }
}

// A schedule keyed by samples seen: 8 a step, 4 from the first step that begins
// with 20 or more seen, 16 from 32; wherever the run stops.
TEST(BatchRunTest, ABatchScheduleIsKeyedBySamplesSeen) {
  const std::string recipe = WriteRecipe(
      "batches", "validation_fraction = 0.01\n" + Source(WriteSource("f", 97)));
  const RigOptions options = {
      .recipe = recipe, .sets = {"batch.schedule=0:8,20:4,32:16"}, .steps = 6};
  const TrainRig unbroken("batches");
  const std::string unseed = unbroken.Unseed(options);
  const std::vector<std::string> metrics = unbroken.Metrics();
  ASSERT_EQ(metrics.size(), 6u);
  const int64_t seen[] = {8, 16, 24, 28, 32, 48};
  for (size_t i = 0; i < 6; ++i) {
    const Json line = Json::parse(metrics[i]);
    EXPECT_EQ(line["samples_seen"], seen[i]);
    EXPECT_EQ(line["sample_last"], seen[i] - 1);
  }
  for (int64_t stop = 1; stop < 6; ++stop) {
    const TrainRig rig(absl::StrCat("batches_stop", stop));
    RigOptions part = options;
    part.until = stop;
    rig.Unseed(part);
    EXPECT_EQ(rig.Unseed(options), unseed) << stop;
    EXPECT_EQ(rig.Metrics(), metrics) << stop;
  }
}

}  // namespace
}  // namespace lockstep
