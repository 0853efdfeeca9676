// Calls that fail during a save leave the old checkpoint and no rest.

#include <gtest/gtest.h>

#include "ckpt/find.h"
#include "ckpt/load_for_test.h"
#include "ckpt/save.h"
#include "ckpt/test_state.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Case 46, and faults at each named point: the old checkpoint loads, nothing is
// left over, and the next save succeeds.
TEST(Fault, AtEveryPointTheOldCheckpointStays) {
  const char* const kPoints[] = {
      "save.step.mkdir",     "save.shard.create",  "save.shard.write",
      "save.shard.sync",     "save.shard.close",   "save.manifest.create",
      "save.manifest.write", "save.manifest.sync", "save.manifest.close",
      "save.index.create",   "save.index.write",   "save.index.sync",
      "save.index.close",    "save.step.sync_dir", "save.step.rename",
  };
  for (const std::string kind : {"enospc", "eio", "raise"}) {
    for (const char* point : kPoints) {
      MemoryFileSystem disk;
      MakeRun(disk);
      ASSERT_TRUE(SaveStep(disk, 5).ok());
      FaultPlan plan({*ParseFault("kind=" + kind + ",at=" + point)}, 0);
      plan.BeginStep(6, 0);
      FaultFileSystem fs(&disk, &plan);
      const auto saved = SaveStep(fs, 6);
      EXPECT_FALSE(saved.ok()) << kind << " at " << point;
      EXPECT_TRUE(plan.Unfired().empty()) << kind << " at " << point;
      if (kind == "enospc") {
        EXPECT_TRUE(absl::IsResourceExhausted(saved.status())) << point;
      }
      EXPECT_EQ(*disk.List("/run/checkpoints"),
                std::vector<std::string>{"step_00000005"})
          << kind << " at " << point;
      EXPECT_EQ(StepThatLoads(disk), 5);
      EXPECT_TRUE(SaveStep(fs, 6).ok()) << "fires once only";
      EXPECT_EQ(StepThatLoads(disk), 6);
    }
  }
}

TEST(Fault, AFailedRenamePutsTheReplacedOneBack) {
  MemoryFileSystem disk;
  MakeRun(disk);
  ASSERT_TRUE(SaveStep(disk, 6).ok());
  FaultPlan plan({*ParseFault("kind=eio,at=save.step.rename")}, 0);
  plan.BeginStep(6, 0);
  FaultFileSystem fs(&disk, &plan);
  EXPECT_FALSE(SaveStep(fs, 6).ok());
  EXPECT_TRUE(plan.Unfired().empty());
  EXPECT_EQ(StepThatLoads(disk), 6);
}

// Case 46: 10 %, 50 % and 99 % of the bytes fit, or all but the index.
TEST(Fault, FullDisk) {
  MemoryFileSystem measure;
  MakeRun(measure);
  const uint64_t bytes = SaveStep(measure, 6)->size_bytes;
  for (const uint64_t percent : {10, 50, 99}) {
    MemoryFileSystem fs;
    MakeRun(fs);
    ASSERT_TRUE(SaveStep(fs, 5).ok());
    fs.SetCapacity(bytes + bytes * percent / 100);
    const auto saved = SaveStep(fs, 6);
    EXPECT_TRUE(absl::IsResourceExhausted(saved.status())) << saved.status();
    EXPECT_NE(Text(saved.status()).find("bytes are missing"),
              std::string::npos);
    EXPECT_EQ(StepThatLoads(fs), 5);
    fs.SetCapacity(1 << 20);
    EXPECT_TRUE(SaveStep(fs, 6).ok());
    EXPECT_EQ(StepThatLoads(fs), 6);
  }
}

// What a full disk's refusal says may go, and what must not.
TEST(Fault, AFullDiskNamesWhatMayGo) {
  MemoryFileSystem fs;
  MakeRun(fs);
  for (const int64_t step : {4, 5, 7}) ASSERT_TRUE(SaveStep(fs, step).ok());
  ASSERT_TRUE(SetAsideCheckpointsAbove(fs, kRun, 6, 2).ok());
  ASSERT_TRUE(fs.MakeDirs("/run/checkpoints/step_00000003").ok());
  fs.SetCapacity(1);
  const std::string text = Text(SaveStep(fs, 6).status());
  for (const char* const part :
       {"/run/abandoned (", "/run/checkpoints/step_00000003 (0 bytes; not",
        "leave /run/checkpoints/step_00000005, its newest complete",
        "older ones may go", "/run/checkpoints/step_00000004 ("}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_EQ(text.find("step_00000007"), std::string::npos) << text;
  ASSERT_TRUE(fs.RemoveTree("/run/abandoned").ok());
  for (const char* const step : {"3", "4"}) {
    ASSERT_TRUE(
        fs.RemoveTree(std::string("/run/checkpoints/step_0000000") + step)
            .ok());
  }
  const std::string alone = Text(SaveStep(fs, 6).status());
  EXPECT_NE(alone.find("do: free space outside of the run; leave /run/"),
            std::string::npos)
      << alone;
}

// Nobody may write there, root neither.
TEST(Fault, AReadOnlyFolderIsRefusedByName) {
  FileSystem& fs = *PosixFileSystem();
  SaveOptions options = OptionsFor(6);
  options.run_dir = "/sys/kernel";
  if (!fs.Exists(options.run_dir)) GTEST_SKIP() << "no /sys here";
  const TestState state(6);
  const auto saved = SaveCheckpoint(fs, options, state.registry);
  EXPECT_EQ(ExitCodeFor(saved.status()), 2) << saved.status();
  EXPECT_NE(Text(saved.status()).find("/sys/kernel/checkpoints"),
            std::string::npos)
      << saved.status();
}

}  // namespace
}  // namespace lockstep
