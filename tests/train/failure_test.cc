// Non-finite numbers, full disks and damaged checkpoints on whole runs.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

// kyutai-labs/pocket-tts#262: NaN weights were saved and the last healthy
// checkpoints rotated away.
TEST(FailureTest, ANanStopsBeforeTheUpdateAndKeepsTheGoodCheckpoint) {
  const TrainRig rig("nan"), clean("nan_clean");
  RigOptions options = {.sets = {"checkpoint.every=1", "checkpoint.keep=2"}};
  const std::string unseed = clean.Unseed(options);
  options.faults = {
      "kind=nan,step=4,at=layers.1.mixer.up_proj.forward,element=7"};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 5);
  const auto message = result.status.message();
  EXPECT_TRUE(absl::StrContains(message, "step 4")) << message;
  EXPECT_TRUE(absl::StrContains(message, "sample")) << message;
  EXPECT_EQ(rig.Metrics().size(), 3u);
  EXPECT_TRUE(rig.Exists("checkpoints/step_00000003/index.json"));
  EXPECT_FALSE(rig.Exists("checkpoints/step_00000004"));
  options.faults = {};
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_EQ(rig.Metrics(), clean.Metrics());
}

TEST(FailureTest, ANanGradientNamesItsTensor) {
  const TrainRig rig("nan_gradient");
  RigOptions options;
  options.faults = {
      "kind=nan,step=2,at=layers.3.mixer.o_proj.backward,element=5"};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 5);
  EXPECT_TRUE(absl::StrContains(result.status.message(), "tensor backbone."))
      << result.status.message();
}

// Disk full while saving: the earlier checkpoint still loads and the run goes
// on from it to the same bits (sml2h3/dddd_trainer#36).
TEST(FailureTest, AFullDiskWhileSavingLosesNothing) {
  const TrainRig rig("enospc"), clean("enospc_clean");
  RigOptions options = {.sets = {"checkpoint.every=2"}};
  const std::string unseed = clean.Unseed(options);
  options.faults = {"kind=enospc,step=4,at=save.shard.write"};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 7) << result.status.message();
  options.faults = {};
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_EQ(rig.Metrics(), clean.Metrics());
}

// RLinf/RLinf#1469: the newest folder was taken, complete or not.
TEST(FailureTest, ADamagedNewestCheckpointIsPassedOver) {
  const TrainRig rig("damaged"), clean("damaged_clean");
  const RigOptions options = {.sets = {"checkpoint.every=2"}, .steps = 6};
  const std::string unseed = clean.Unseed(options);
  RigOptions stopped = options;
  stopped.until = 4;
  rig.Unseed(stopped);
  const std::string shard = "checkpoints/step_00000004/rank_00000.safetensors";
  std::string bytes = rig.Read(shard);
  bytes[bytes.size() - 9] ^= 1;
  rig.Write(shard, bytes);
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_EQ(rig.Metrics(), clean.Metrics());
  EXPECT_TRUE(
      absl::StrContains(rig.Read("ledger.jsonl"), "checkpoint_skipped"));
}

TEST(FailureTest, OnlyDamagedCheckpointsAreExit4) {
  const TrainRig rig("all_damaged");
  RigOptions options = {.steps = 4, .until = 2};
  rig.Unseed(options);
  const std::string shard = "checkpoints/step_00000002/rank_00000.safetensors";
  std::string bytes = rig.Read(shard);
  bytes[bytes.size() / 2] ^= 4;
  rig.Write(shard, bytes);
  EXPECT_EQ(ExitCodeFor(rig.Train({.steps = 4}).status), 4);
}

TEST(FailureTest, TwoWrongKeysAreReportedTogether) {
  const TrainRig rig("wrong_keys");
  RigOptions options;
  options.sets = {"optimizer.learning_rate=1", "batch.micro=3"};
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 2);
  const auto message = result.status.message();
  EXPECT_TRUE(absl::StrContains(message, "learning_rate")) << message;
  EXPECT_TRUE(absl::StrContains(message, "micro")) << message;
  EXPECT_FALSE(rig.Exists("manifest.json"));
}

}  // namespace
}  // namespace lockstep
