// A power cut at any call of a save leaves the old checkpoint or the new one.

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

// Case 44: after a power cut at any call, with any legal loss, the old
// checkpoint or the new one loads, bit for bit; what SaveCheckpoint called done
// is there.
TEST(Crash, EveryPrefixOfASaveLoadsOldOrNew) {
  int64_t points = 0, old_loads = 0, new_loads = 0;
  bool finished = false;
  for (int64_t limit = 0; !finished; ++limit) {
    for (uint64_t seed = 0; seed < 24; ++seed) {
      MemoryFileSystem fs;
      MakeRun(fs);
      ASSERT_TRUE(SaveStep(fs, 5).ok());
      fs.FailAfter(limit);
      finished = SaveStep(fs, 6).ok();
      fs.Crash(seed);
      const int64_t step = StepThatLoads(fs);
      ASSERT_TRUE(step == 6 || (step == 5 && !finished))
          << "call " << limit << " seed " << seed << " loads " << step;
      (step == 5 ? old_loads : new_loads) += 1;
      ++points;
      // The next generation goes past the leftovers.
      ASSERT_TRUE(CleanLeftovers(fs, kRun).ok());
      for (const std::string& name : NamesIn(fs, "/run/checkpoints")) {
        EXPECT_EQ(name.find("step_"), 0u) << name;
      }
      ASSERT_TRUE(SaveStep(fs, 6).ok());
      EXPECT_EQ(StepThatLoads(fs), 6);
    }
  }
  EXPECT_GT(points, 24 * 12);
  EXPECT_GT(old_loads, 100);
  EXPECT_GT(new_loads, 24);
}

// Cases 49 and 50: saving a step again over a good copy of it.
TEST(Crash, ReplacingACheckpointNeverLosesBothCopies) {
  int64_t put_back = 0;
  bool finished = false;
  for (int64_t limit = 0; !finished; ++limit) {
    for (uint64_t seed = 0; seed < 24; ++seed) {
      MemoryFileSystem fs;
      MakeRun(fs);
      ASSERT_TRUE(SaveStep(fs, 6).ok());
      fs.FailAfter(limit);
      finished = SaveStep(fs, 6).ok();
      fs.Crash(seed);
      const auto done = CleanLeftovers(fs, kRun);
      ASSERT_TRUE(done.ok()) << done.status();
      for (const std::string& line : *done) {
        put_back += line.find("put back") == 0;
      }
      ASSERT_EQ(StepThatLoads(fs), 6) << "call " << limit << " seed " << seed;
    }
  }
  EXPECT_GT(put_back, 0);  // the branch was reached
}

// Passes everything on, but for one kind of call that it only pretends to make.
class LyingFileSystem : public FaultFileSystem {
 public:
  LyingFileSystem(FileSystem* base, FaultPlan* plan, std::string liar)
      : FaultFileSystem(base, plan), liar_(std::move(liar)) {}
  absl::Status SyncDir(const std::string& path) override {
    return path == liar_ ? absl::OkStatus() : FaultFileSystem::SyncDir(path);
  }

 private:
  const std::string liar_;
};

// How many of the seeds lose a save that was reported done.
int64_t SavesLost(const std::string& unsynced_dir, const std::string& fault) {
  int64_t lost = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    MemoryFileSystem disk;
    MakeRun(disk);
    EXPECT_TRUE(SaveStep(disk, 5).ok());
    std::vector<FaultSpec> specs;
    if (!fault.empty()) specs.push_back(*ParseFault(fault));
    FaultPlan plan(specs, 0);
    plan.BeginStep(6, 0);
    LyingFileSystem fs(&disk, &plan, unsynced_dir);
    EXPECT_TRUE(SaveStep(fs, 6).ok());
    disk.Crash(seed);
    lost += StepThatLoads(disk) != 6;
  }
  return lost;
}

// The canaries of the two tests above: each sync that is left out is noticed.
TEST(Crash, EverySyncMatters) {
  EXPECT_EQ(SavesLost("", ""), 0);
  EXPECT_GT(SavesLost("/run/checkpoints", ""), 0);
  EXPECT_GT(SavesLost("/run/checkpoints/.tmp-step_00000006-0", ""), 0);
  for (const char* noun : {"shard", "manifest", "index"}) {
    EXPECT_GT(
        SavesLost("", std::string("kind=lost_write,at=save.") + noun + ".sync"),
        0)
        << noun;
  }
}

// Of files that are replaced whole, and of those alone.
TEST(Crash, HalfFilesOfAKilledTrainerGoAtTheNextStart) {
  MemoryFileSystem fs;
  MakeRun(fs);
  ASSERT_TRUE(SaveStep(fs, 5).ok());
  ASSERT_TRUE(fs.MakeDirs("/run/launches").ok());
  const std::vector<std::string> half = {
      "/run/checkpoints/step_00000005/index.json.tmp",
      "/run/faults.json.tmp",
      "/run/launches/launch_00000003.json.tmp",
      "/run/ledger.jsonl.tmp",
      "/run/ledger_head.tmp",
      "/run/manifest.json.tmp",
      "/run/metrics.jsonl.tmp"};
  const std::vector<std::string> others = {
      "/run/checkpoints/step_00000005/notes.tmp", "/run/launches/notes.tmp",
      "/run/manifest.json", "/run/notes.tmp"};
  for (const auto& list : {others, half}) {
    for (const std::string& path : list) Overwrite(fs, path, "x");
  }
  EXPECT_EQ(CleanLeftovers(fs, kRun)->size(), half.size());
  for (const std::string& path : half) EXPECT_FALSE(fs.Exists(path)) << path;
  for (const std::string& path : others) EXPECT_TRUE(fs.Exists(path)) << path;
  EXPECT_TRUE(CleanLeftovers(fs, kRun)->empty());
}

}  // namespace
}  // namespace lockstep
