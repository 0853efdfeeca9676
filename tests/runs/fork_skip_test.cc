// A fork and its parent's skip list: what the checkpoint had, and what the fork
// takes on itself, which it keeps from its first moment.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

class ForkSkipTest : public testing::Test {
 protected:
  using Lines = std::vector<std::string>;

  // Steps of 8 samples: 7 of them, with a range from the start and one that is
  // adopted after the fourth.
  static RigOptions Options() {
    return {.sets = {"checkpoint.every=2", "model.hidden_dropout=0.1"},
            .steps = 7};
  }
  static RigOptions Fork(const TrainRig& of, int64_t step) {
    RigOptions options = Options();
    options.fork = absl::StrCat(of.dir(), "/checkpoints/step_0000000", step);
    return options;
  }
  static Lines After(const TrainRig& rig, size_t step) {
    const Lines lines = rig.Metrics();
    return {lines.begin() + static_cast<ptrdiff_t>(step), lines.end()};
  }
  void SetUp() override {
    RigOptions options = Options();
    options.skip_samples = {"10-20"};
    unskipped_late_.Unseed(options);
    options.until = 4;
    parent_.Unseed(options);
    options.until.reset();
    options.skip_samples = {"50-54"};
    unseed_ = parent_.Unseed(options);
    EXPECT_NE(After(parent_, 4), After(unskipped_late_, 4));
  }

  const TrainRig parent_{"skip_parent"};
  const TrainRig unskipped_late_{"skip_parent_early"};
  std::string unseed_;
};

TEST_F(ForkSkipTest, AForkHasWhatItsCheckpointHad) {
  const TrainRig early("skip_fork2"), late("skip_fork6");
  early.Unseed(Fork(parent_, 2));
  EXPECT_EQ(early.Metrics(), After(unskipped_late_, 2));
  EXPECT_EQ(late.Unseed(Fork(parent_, 6)), unseed_);
  EXPECT_EQ(late.Metrics(), After(parent_, 6));
}

TEST_F(ForkSkipTest, WhatItTakesOnItKeepsThroughKills) {
  const TrainRig unbroken("skip_fork_own"), killed("skip_fork_killed");
  RigOptions options = Fork(parent_, 2);
  options.skip_samples = {"40-47", "30-44"};
  const std::string unseed = unbroken.Unseed(options);
  EXPECT_NE(unbroken.Metrics(), After(unskipped_late_, 2));
  options.sets.push_back("checkpoint.every=100");
  options.faults = {"kind=kill,step=4"};
  killed.TrainUntilKilled(options);
  RigOptions next = Options();
  next.faults = {"kind=kill,step=5"};
  next.sets.push_back("checkpoint.every=100");
  killed.TrainUntilKilled(next);
  EXPECT_EQ(killed.Unseed(Options()), unseed);
  EXPECT_EQ(killed.Metrics(), unbroken.Metrics());
}

TEST_F(ForkSkipTest, AForkWithoutSamplesLeftMakesNoFolder) {
  const TrainRig fork("skip_fork_none");
  RigOptions options = Fork(parent_, 2);
  options.skip_samples = {"20-9223372036854775807"};
  EXPECT_EQ(ExitCodeFor(fork.Train(options).status), 2);
  EXPECT_FALSE(fork.Exists("manifest.json"));
}

}  // namespace
}  // namespace lockstep
