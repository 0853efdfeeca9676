// Which checkpoint a run takes up.

#include "ckpt/find.h"

#include <gtest/gtest.h>

#include "ckpt/find.h"
#include "ckpt/run_for_test.h"
#include "ckpt/verify.h"
#include "determinism/fault_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using FindTest = RunTest;

// Case 53.
TEST_F(FindTest, WithoutAnyCheckpoint) {
  for (const bool folder : {false, true}) {
    if (folder) {
      ASSERT_TRUE(fs.MakeDirs(kCheckpoints).ok());
    }
    const auto fresh = Find("auto");
    ASSERT_TRUE(fresh.ok());
    EXPECT_TRUE(fresh->fresh);
    ASSERT_EQ(fresh->notes.size(), 1u);
    EXPECT_NE(fresh->notes[0].find("FRESH START"), std::string::npos);
    EXPECT_EQ(ExitCodeFor(Find("must").status()), 4);
    EXPECT_TRUE(Find("never")->fresh);
  }
  EXPECT_EQ(ExitCodeFor(Find("/nowhere/step_00000009").status()), 2);
  EXPECT_EQ(ExitCodeFor(Find("").status()), 2);
  EXPECT_EQ(ExitCodeFor(Find("garbage\n").status()), 2);
}

// Case 44: the newest that verifies, and the reasons for passing over others.
TEST_F(FindTest, WalksBackToOneThatVerifies) {
  for (const int64_t step : {5, 10, 15, 20}) Save(step);
  Flip(15);
  ASSERT_TRUE(
      fs.Remove(JoinPath(kCheckpoints, "step_00000020/index.json")).ok());
  ASSERT_TRUE(fs.MakeDirs(JoinPath(kCheckpoints, "step_00000025")).ok());
  ASSERT_TRUE(fs.MakeDirs(JoinPath(kCheckpoints, "step-5000")).ok());
  for (const std::string mode : {"auto", "must"}) {
    const auto found = Find(mode);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->step, 10);
    EXPECT_EQ(found->dir, "/run/checkpoints/step_00000010");
    ASSERT_EQ(found->notes.size(), 3u);
    EXPECT_NE(found->notes[0].find("step_00000025"), std::string::npos);
    EXPECT_NE(found->notes[1].find("step_00000020"), std::string::npos);
    EXPECT_NE(found->notes[2].find("rank_00000.safetensors"),
              std::string::npos);
  }
  EXPECT_TRUE(Find("never")->fresh);
}

TEST_F(FindTest, DamagedOnesAreNeverReplacedByAFreshStart) {
  Save(5);
  Save(10);
  Spoil(5);
  Spoil(10);
  EXPECT_EQ(ExitCodeFor(Find("auto").status()), 4);
  EXPECT_EQ(ExitCodeFor(Find("must").status()), 4);
}

TEST_F(FindTest, APathIsTakenOrRefused) {
  Save(5);
  Save(10);
  Save(15, "run-b");
  EXPECT_EQ(Find("/run/checkpoints/step_00000005")->step, 5);
  EXPECT_EQ(Find("/run/checkpoints/step_00000005/")->step, 5);
  EXPECT_EQ(Find("step_00000005")->step, 5);
  EXPECT_EQ(ExitCodeFor(Find("/run").status()), 2);
  // A wrong path is no damage.
  EXPECT_EQ(ExitCodeFor(Find("/run/checkpoints").status()), 2);
  EXPECT_EQ(
      ExitCodeFor(Find("/run/checkpoints/step_00000005/index.json").status()),
      2);
  EXPECT_EQ(ExitCodeFor(Find("step_00000015").status()), 2);
  EXPECT_EQ(Find("step_00000015", "")->run_id, "run-b");
  Flip(5);
  EXPECT_EQ(ExitCodeFor(Find("step_00000005").status()), 4);
}

TEST_F(FindTest, ListSaysWhatIsThere) {
  Save(5);
  Save(10);
  Spoil(10);
  const auto list = *ListCheckpoints(fs, kRun);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_TRUE(list[0].complete);
  EXPECT_FALSE(list[1].complete);
  EXPECT_NE(list[1].why.find("7 bytes instead of"), std::string::npos);
  EXPECT_NE(ListToJson(list).find("\"step\":10,\"complete\":false"),
            std::string::npos);
}

TEST(Names, OneStepHasOneName) {
  EXPECT_EQ(CheckpointName(100), "step_00000100");
  EXPECT_EQ(StepOfCheckpointName("step_00000100"), 100);
  EXPECT_EQ(CheckpointName(1234567890), "step_1234567890");
  EXPECT_EQ(StepOfCheckpointName("step_1234567890"), 1234567890);
  for (const char* name :
       {"step_100", "step_000000100", "step_0000010x", "step_-0000100",
        ".tmp-step_00000100-0", "step-00000100", "step_00000100.tmp",
        "step_99999999999999999999", ""}) {
    EXPECT_EQ(StepOfCheckpointName(name), -1) << name;
  }
}

}  // namespace
}  // namespace lockstep
