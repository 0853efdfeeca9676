// RUN/tb of whole runs: what a launch leaves, and what a launch does without.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "determinism/file_system.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

TEST(TensorBoardRunTest, OneFileALaunchAndNoneWhenTurnedOff) {
  const TrainRig rig("tb_files"), off("tb_off");
  const std::string unseed =
      off.Unseed({.sets = {"metrics.tensorboard=false"}, .steps = 4});
  EXPECT_FALSE(off.Exists("tb"));
  rig.Unseed({.steps = 4, .until = 2});
  EXPECT_EQ(rig.List("tb").size(), 1u);
  EXPECT_EQ(rig.Unseed({.steps = 4}), unseed);
  const auto names = rig.List("tb");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_TRUE(absl::StrContains(rig.Read("tb/" + names[0]), "brain.Event:2"));
  EXPECT_TRUE(absl::StrContains(rig.Read("tb/" + names[1]), "train/loss"));
  EXPECT_EQ(rig.Metrics(), off.Metrics());
}

// A failed write is told and recorded; the run itself goes on.
TEST(TensorBoardRunTest, AFailedWriteIsReportedAndStopsNoRun) {
  const TrainRig rig("tb_full"), clean("tb_clean");
  RigOptions options = {.steps = 4};
  const std::string unseed = clean.Unseed(options);
  options.faults = {"kind=enospc,step=3,at=save.events.write"};
  EXPECT_EQ(rig.Unseed(options), unseed);
  EXPECT_EQ(rig.Metrics(), clean.Metrics());
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "tensorboard_stop"));
  EXPECT_FALSE(
      absl::StrContains(clean.Read("ledger.jsonl"), "tensorboard_stop"));
}

}  // namespace
}  // namespace lockstep
