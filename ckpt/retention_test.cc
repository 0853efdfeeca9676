// Which checkpoints a run throws away.

#include "ckpt/retention.h"

#include <gtest/gtest.h>

#include "ckpt/find.h"
#include "ckpt/run_for_test.h"
#include "ckpt/verify.h"
#include "determinism/fault_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using RetentionTest = RunTest;

// Case 47: a planted folder of a later step from another run.
TEST_F(RetentionTest, AnotherRunsFolderNeverCounts) {
  Save(5);
  Save(5000, "run-b");
  EXPECT_EQ(Find("auto")->step, 5);
  Save(10);
  const auto report = Retain(10, 1);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->removed, Steps{"step_00000005"});
  EXPECT_EQ(Names(), (Steps{"step_00000010", "step_00005000"}));
}

// Case 47: limit 1 and a third save that fails: one stays and loads.
TEST_F(RetentionTest, LimitOneSurvivesAFailedSave) {
  Save(5);
  ASSERT_TRUE(Retain(5, 1).ok());
  Save(10);
  ASSERT_TRUE(Retain(10, 1).ok());
  EXPECT_EQ(Names(), Steps{"step_00000010"});
  FaultPlan plan({*ParseFault("kind=enospc,at=save.index.write")}, 0);
  plan.BeginStep(15, 0);
  FaultFileSystem faulty(&fs, &plan);
  EXPECT_FALSE(SaveStep(faulty, 15).ok());
  EXPECT_FALSE(Retain(15, 1).ok());
  EXPECT_EQ(Find("must")->step, 10);
}

// On record first: a kill between the two leaves more than was promised.
TEST_F(RetentionTest, WhatIsAboutToGoIsToldWhileItIsThere) {
  Save(5);
  Save(10);
  Steps told;
  absl::Status answer = absl::InternalError("no line can be written");
  const auto retain = [&] {
    return ApplyRetention(fs,
                          {.run_dir = kRun,
                           .run_id = "run-a",
                           .before_removal =
                               [&](const Steps& names) {
                                 told = names;
                                 EXPECT_EQ(Names().size(), 2u);
                                 return answer;
                               }},
                          10);
  };
  EXPECT_EQ(retain().status(), answer);
  EXPECT_EQ(told, Steps{"step_00000005"});
  EXPECT_EQ(Names().size(), 2u);
  answer = absl::OkStatus();
  EXPECT_TRUE(retain().ok());
  EXPECT_EQ(Names(), Steps{"step_00000010"});
}

TEST_F(RetentionTest, NothingGoesWhileTheNewOneDoesNotReadBack) {
  Save(5);
  Save(10);
  Flip(10);
  const auto report = Retain(10, 1);
  EXPECT_FALSE(report.ok());
  EXPECT_NE(Text(report.status()).find("rank_00000.safetensors"),
            std::string::npos);
  EXPECT_EQ(Names(), (Steps{"step_00000005", "step_00000010"}));
  EXPECT_EQ(Find("auto")->step, 5);
}

TEST_F(RetentionTest, KeepsTheNewestAndTheOnesForGood) {
  for (int64_t step = 5; step <= 40; step += 5) {
    Save(step);
    ASSERT_TRUE(Retain(step, 2, 15).ok());
  }
  EXPECT_EQ(Names(), (Steps{"step_00000015", "step_00000030", "step_00000035",
                            "step_00000040"}));
}

TEST_F(RetentionTest, ADamagedOneHoldsNoPlaceAndIsNotRemoved) {
  for (const int64_t step : {5, 10, 15}) Save(step);
  Spoil(10);
  const auto report = Retain(15, 2);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->removed.empty());
  EXPECT_EQ(report->kept, (Steps{"step_00000015", "step_00000005"}));
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_NE(report->notes[0].find("step_00000010"), std::string::npos);
}

// As above, where only reading every byte shows the damage.
TEST_F(RetentionTest, AFlippedBitHoldsNoPlaceAndIsNotRemoved) {
  for (const int64_t step : {5, 10, 15}) Save(step);
  Flip(10);
  auto report = Retain(15, 2);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->removed.empty());
  EXPECT_EQ(report->kept, (Steps{"step_00000015", "step_00000005"}));
  // With two good ones after it nothing hangs on it any more.
  Save(20);
  report = Retain(20, 2);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->removed, (Steps{"step_00000010", "step_00000005"}));
  EXPECT_EQ(report->kept, (Steps{"step_00000020", "step_00000015"}));
}

TEST_F(RetentionTest, AKillDuringRemovalLeavesNoHalfFolderUnderAFinalName) {
  int64_t leftovers = 0;
  bool finished = false;
  for (int64_t limit = 0; !finished; ++limit) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      MemoryFileSystem disk;
      MakeRun(disk);
      for (const int64_t step : {5, 10, 15}) {
        ASSERT_TRUE(SaveStep(disk, step).ok());
      }
      disk.FailAfter(limit);
      finished = ApplyRetention(
                     disk, {.run_dir = kRun, .run_id = "run-a", .keep = 1}, 15)
                     .ok();
      disk.Crash(seed);
      const auto listed = *ListCheckpoints(disk, kRun);
      for (const ListedCheckpoint& c : listed) {
        EXPECT_TRUE(VerifyCheckpoint(disk, c.dir)->ok)
            << c.name << " call " << limit << " seed " << seed;
      }
      leftovers += !CleanLeftovers(disk, kRun)->empty();
      for (const std::string& name : NamesIn(disk, kCheckpoints)) {
        EXPECT_GE(StepOfCheckpointName(name), 0) << name;
      }
      EXPECT_EQ(FindCheckpoint(disk, kRun, ParseResume("must"), "run-a")->step,
                15);
    }
  }
  EXPECT_GT(leftovers, 0);
}

TEST_F(RetentionTest, APinnedOneStaysUntilItsPinGoes) {
  for (int64_t step = 5; step <= 20; step += 5) Save(step);
  const std::string pin = PinOf(kRun, "step_00000005");
  Overwrite(fs, pin, "");
  ASSERT_TRUE(Retain(20, 1).ok());
  ASSERT_TRUE(CleanLeftovers(fs, kRun).ok());
  EXPECT_TRUE(ListCheckpoints(fs, kRun)->front().pinned);
  EXPECT_EQ(Names(),
            (Steps{".pin-step_00000005", "step_00000005", "step_00000020"}));
  ASSERT_TRUE(fs.Remove(pin).ok());
  ASSERT_TRUE(Retain(20, 1).ok());
  EXPECT_EQ(Names(), Steps{"step_00000020"});
}

}  // namespace
}  // namespace lockstep
