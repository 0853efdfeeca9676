// Which checkpoint a run takes up, and which it throws away.

#include "ckpt/retention.h"

#include <gtest/gtest.h>

#include "ckpt/checkpoint_config.h"
#include "ckpt/find.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "recipes/recipe.h"

namespace lockstep {
namespace {

constexpr char kCheckpoints[] = "/run/checkpoints";

class RunTest : public testing::Test {
 protected:
  RunTest() { MakeRun(fs); }

  void Save(int64_t step, const std::string& run_id = "run-a") {
    const TestState state(step);
    SaveOptions options = OptionsFor(step);
    options.run_id = run_id;
    ASSERT_TRUE(SaveCheckpoint(fs, options, state.registry).ok());
  }
  void Spoil(int64_t step) {
    Overwrite(fs,
              JoinPath(kCheckpoints,
                       CheckpointName(step) + "/rank_00000.safetensors"),
              "spoiled");
  }
  // As Spoil, without a change of length: only reading the data shows it.
  void Flip(int64_t step) {
    const std::string path = JoinPath(
        kCheckpoints, CheckpointName(step) + "/rank_00000.safetensors");
    std::string bytes = *fs.ReadFile(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    Overwrite(fs, path, bytes);
  }
  absl::StatusOr<FoundCheckpoint> Find(const std::string& resume,
                                       const std::string& run_id = "run-a") {
    return FindCheckpoint(fs, kRun, ParseResume(resume), run_id);
  }
  absl::StatusOr<RetentionReport> Retain(int64_t committed, int64_t keep,
                                         int64_t keep_every = 0) {
    return ApplyRetention(fs,
                          {.run_dir = kRun,
                           .run_id = "run-a",
                           .keep = keep,
                           .keep_every = keep_every},
                          committed);
  }
  std::vector<std::string> Names() { return *fs.List(kCheckpoints); }

  MemoryFileSystem fs;
};

using Steps = std::vector<std::string>;

// Case 53.
TEST_F(RunTest, WithoutAnyCheckpoint) {
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
TEST_F(RunTest, WalksBackToOneThatVerifies) {
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

TEST_F(RunTest, DamagedOnesAreNeverReplacedByAFreshStart) {
  Save(5);
  Save(10);
  Spoil(5);
  Spoil(10);
  EXPECT_EQ(ExitCodeFor(Find("auto").status()), 4);
  EXPECT_EQ(ExitCodeFor(Find("must").status()), 4);
}

TEST_F(RunTest, APathIsTakenOrRefused) {
  Save(5);
  Save(10);
  Save(15, "run-b");
  EXPECT_EQ(Find("/run/checkpoints/step_00000005")->step, 5);
  EXPECT_EQ(Find("/run/checkpoints/step_00000005/")->step, 5);
  EXPECT_EQ(Find("step_00000005")->step, 5);
  EXPECT_EQ(ExitCodeFor(Find("/run").status()), 2);
  EXPECT_EQ(ExitCodeFor(Find("step_00000015").status()), 2);
  EXPECT_EQ(Find("step_00000015", "")->run_id, "run-b");
  Flip(5);
  EXPECT_EQ(ExitCodeFor(Find("step_00000005").status()), 4);
}

// Case 47: a planted folder of a later step from another run.
TEST_F(RunTest, AnotherRunsFolderNeverCounts) {
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
TEST_F(RunTest, LimitOneSurvivesAFailedSave) {
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

TEST_F(RunTest, NothingGoesWhileTheNewOneDoesNotReadBack) {
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

TEST_F(RunTest, KeepsTheNewestAndTheOnesForGood) {
  for (int64_t step = 5; step <= 40; step += 5) {
    Save(step);
    ASSERT_TRUE(Retain(step, 2, 15).ok());
  }
  EXPECT_EQ(Names(), (Steps{"step_00000015", "step_00000030", "step_00000035",
                            "step_00000040"}));
}

TEST_F(RunTest, ADamagedOneHoldsNoPlaceAndIsNotRemoved) {
  for (const int64_t step : {5, 10, 15}) Save(step);
  Spoil(10);
  const auto report = Retain(15, 2);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->removed.empty());
  EXPECT_EQ(report->kept, (Steps{"step_00000015", "step_00000005"}));
  ASSERT_EQ(report->notes.size(), 1u);
  EXPECT_NE(report->notes[0].find("step_00000010"), std::string::npos);
}

TEST_F(RunTest, AKillDuringRemovalLeavesNoHalfFolderUnderAFinalName) {
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

TEST_F(RunTest, ListSaysWhatIsThere) {
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

absl::Status ConfigStatus(const std::string& text, CheckpointConfig& config) {
  Recipe recipe = *Recipe::FromText(text, "test.toml");
  config = recipe.Read<CheckpointConfig>("checkpoint");
  return recipe.Finish();
}

TEST(Config, KeepZeroAndAsyncAreRefused) {
  CheckpointConfig config;
  EXPECT_TRUE(
      ConfigStatus("[checkpoint]\nevery = 5\nkeep = 1\nkeep_every = 50\n",
                   config)
          .ok());
  EXPECT_EQ(config.every, 5);
  EXPECT_EQ(config.keep, 1);
  EXPECT_EQ(config.keep_every, 50);
  EXPECT_EQ(ExitCodeFor(ConfigStatus("[checkpoint]\nkeep = 0\n", config)), 2);
  EXPECT_EQ(ExitCodeFor(ConfigStatus("[checkpoint]\nasync = true\n", config)),
            2);
  EXPECT_TRUE(ConfigStatus("[checkpoint]\nasync = false\n", config).ok());
  EXPECT_EQ(ExitCodeFor(ConfigStatus("[checkpoint]\nevery = -1\n", config)), 2);
}

TEST(Config, NoKeyIsPartOfTheTrajectory) {
  Recipe recipe = *Recipe::FromText("[checkpoint]\nevery = 5\n", "test.toml");
  recipe.Read<CheckpointConfig>("checkpoint");
  ASSERT_TRUE(recipe.Finish().ok());
  EXPECT_EQ(recipe.TrajectoryText(), "");
  EXPECT_NE(recipe.ResolvedText().find("checkpoint.every = 5"),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
