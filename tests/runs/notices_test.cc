// What a person is told unasked: a step that takes long, a step that takes too
// much, a spike.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"
#include "tools/progress.h"
#include "tools/step_memory.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

TEST(ProgressTest, ALongStepIsShownEveryTenSeconds) {
  ManualClock clock;
  testing::internal::CaptureStderr();
  {
    RankLog log;
    Progress progress(clock, log, 1, 3, /*quiet=*/false);
    for (int64_t m = 1; m <= 24; ++m) {
      progress.MicroBatch(1, m, 24);
      clock.AdvanceMillis(1000);
    }
    progress.MicroBatch(2, 1, 4);  // quick, a moment later
    progress.MicroBatch(2, 2, 4);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "step 1/3  micro-batch 11 of 24  0m13s left of the step\n"
            "step 1/3  micro-batch 21 of 24  0m03s left of the step\n");
  testing::internal::CaptureStderr();
  {
    RankLog log;
    Progress progress(clock, log, 1, 3, /*quiet=*/true);
    progress.MicroBatch(1, 1, 9);
    clock.AdvanceMillis(100000);
    progress.MicroBatch(1, 2, 9);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

RunConfig Config(const std::vector<std::string>& sets) {
  auto recipe = Recipe::Load(*PosixFileSystem(), "recipes/debug.toml", sets);
  EXPECT_TRUE(recipe.ok());
  auto config = ReadRunConfig(*recipe, std::nullopt);
  EXPECT_TRUE(config.ok()) << std::string(config.status().message());
  return *config;
}

double Part(const RunConfig& config, const std::string& key) {
  const auto parts = StepMemory(config);
  EXPECT_TRUE(parts.ok()) << std::string(parts.status().message());
  for (const MemoryPart& part : *parts) {
    if (part.key == key) return part.bytes;
  }
  ADD_FAILURE() << "no part of " << key;
  return 0;
}

TEST(StepMemoryTest, EachKeyMakesItsOwnPartLarger) {
  const RunConfig debug = Config({});
  const double tokens = static_cast<double>(debug.data.sequence);
  // An index, ids and masks of each batch; losses of one.
  const auto batch = static_cast<double>(debug.batch.global);
  const double ahead = batch * (8 + 4 * (tokens + 1) + tokens);
  EXPECT_EQ(Part(Config({"data.prefetch=0"}), "batch.global"),
            ahead + batch * 4 * tokens);
  EXPECT_EQ(Part(Config({"data.prefetch=3"}), "batch.global"),
            4 * ahead + batch * 4 * tokens);
  const RunConfig wide = Config({"batch.global=16777216"});
  EXPECT_GT(Part(wide, "batch.global"), 16777216 * tokens * 9);
  EXPECT_EQ(Part(wide, "batch.micro"), Part(debug, "batch.micro"));
  const RunConfig scheduled = Config({"batch.schedule=0:8,80:16384"});
  EXPECT_EQ(Part(scheduled, "batch.schedule"),
            Part(Config({"batch.global=16384"}), "batch.global"));
  const RunConfig micro = Config({"batch.micro=8"});
  // The head works on a leaf at a time, whatever the micro-batch.
  EXPECT_GT(Part(micro, "batch.micro"), 2 * Part(debug, "batch.micro"));
  EXPECT_LE(
      Part(micro, "batch.micro"),
      Part(debug, "batch.micro") * 8 / static_cast<double>(debug.batch.micro));
  EXPECT_LT(Part(Config({"train.recompute=true"}), "batch.micro"),
            Part(debug, "batch.micro"));
  EXPECT_GT(Part(Config({"model.hidden=512"}), "model"), Part(debug, "model"));
  const double copy = Part(Config({"checkpoint.every=5"}), "checkpoint.async");
  EXPECT_GT(copy, 0);
  EXPECT_LT(copy, Part(debug, "model"));
  EXPECT_EQ(StepMemory(Config({"checkpoint.every=5", "checkpoint.async=false"}))
                ->size(),
            StepMemory(Config({"checkpoint.every=0"}))->size());
}

TEST(StepMemoryTest, WhatCannotFitIsRefusedByItsKeyAndBytes) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_TRUE(CheckMemory(Config({}), kGiB).ok());
  EXPECT_TRUE(CheckMemory(Config({"batch.global=16777216"}), 0).ok());
  const auto expect = [&](const std::string& set, const std::string& key) {
    const absl::Status status = CheckMemory(Config({set}), kGiB);
    EXPECT_EQ(ExitCodeFor(status), 2) << set;
    EXPECT_TRUE(absl::StrContains(status.message(), "lower " + key))
        << std::string(status.message());
    EXPECT_TRUE(absl::StrContains(status.message(),
                                  "and there are 1073741824 bytes of memory"))
        << std::string(status.message());
  };
  expect("batch.global=16777216", "batch.global");
  expect("model.hidden=65536", "model");
  // Where one rank fits, many of one machine may not.
  EXPECT_TRUE(CheckMemory(Config({}), kGiB / 64).ok());
  EXPECT_EQ(ExitCodeFor(CheckMemory(Config({}), kGiB / 64, 64)), 2);
}

TEST(StepMemoryTest, AStepOfManyEpochsIsTold) {
  const RunConfig debug = Config({"batch.global=64"});
  EXPECT_EQ(OversizedBatch(debug, 9), "");
  EXPECT_TRUE(absl::StrContains(OversizedBatch(debug, 8),
                                "each step reads them 8 times over"));
}

TEST(NoticesTest, ASpikeIsOnStderrAndInTheStatus) {
  const TrainRig rig("notices_spike"), plain("notices_none");
  RigOptions options = {
      .sets = {"spike.action=skip", "spike.window=4", "spike.warmup=4"},
      .steps = 7};
  const auto status = [](const TrainRig& of) {
    return StatusVerb({.run_dir = of.dir(), .json = false})->text;
  };
  plain.Unseed(options);
  EXPECT_FALSE(absl::StrContains(status(plain), "spikes"));
  options.faults = {"kind=spike,step=6,at=lm_head.loss.forward"};
  testing::internal::CaptureStderr();
  rig.Unseed(options);  // --json, so that nothing is shown that need not be
  EXPECT_TRUE(absl::StrContains(testing::internal::GetCapturedStderr(),
                                "step 6 skipped: a spike: loss "));
  EXPECT_TRUE(absl::StrContains(
      status(rig),
      "spikes      1, 1 of them skipped; the last at step 6: loss"))
      << status(rig);
  const auto answer = StatusVerb({.run_dir = rig.dir(), .json = true});
  const Json spikes = Json::parse(answer->text)["spikes"];
  EXPECT_EQ(spikes["count"], 1);
  EXPECT_EQ(spikes["last"]["step"], 6);
  EXPECT_EQ(spikes["last"]["skipped"], true);
}

}  // namespace
}  // namespace lockstep
