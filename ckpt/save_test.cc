// Save and load: the bits come back, and a crash at any call leaves the old
// checkpoint or the new one.

#include "ckpt/save.h"

#include <gtest/gtest.h>

#include <limits>

#include "ckpt/find.h"
#include "ckpt/load.h"
#include "ckpt/run_lock.h"
#include "ckpt/safetensors.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
#include "determinism/fault_file_system.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kStep6[] = "/run/checkpoints/step_00000006";

TEST(Save, WhatComesBackIsWhatWasSaved) {
  MemoryFileSystem fs;
  MakeRun(fs);
  const TestState saved(6);
  const auto checkpoint = SaveCheckpoint(fs, OptionsFor(6), saved.registry);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_EQ(checkpoint->dir, kStep6);
  EXPECT_EQ(*fs.List("/run/checkpoints"),
            std::vector<std::string>{"step_00000006"});
  EXPECT_EQ(*fs.List(kStep6),
            (std::vector<std::string>{"index.json", "manifest.json",
                                      "rank_00000.safetensors"}));

  TestState loaded(1);
  PoisonState(loaded.registry);
  const auto index = LoadCheckpoint(fs, kStep6, loaded.registry);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(StateFingerprint(loaded.registry, kSavedState),
            StateFingerprint(saved.registry, kSavedState));
  EXPECT_EQ(index->state_fingerprint,
            StateFingerprint(saved.registry, kSavedState));
  EXPECT_EQ(loaded.cursor.skip_list, std::string(1, '\xff'));
  EXPECT_EQ(loaded.model.updates, saved.model.updates);

  // N10: the runtime weights are made again and compared.
  const absl::Status before = CheckRuntimeFingerprint(loaded.registry, *index);
  EXPECT_EQ(ExitCodeFor(before), 4);
  EXPECT_NE(Text(before).find("model/a.weight.runtime"), std::string::npos);
  loaded.model.Rebuild();
  EXPECT_TRUE(CheckRuntimeFingerprint(loaded.registry, *index).ok());
  EXPECT_EQ(loaded.Fingerprint(), saved.Fingerprint());
}

// Case 65: a master that bf16 cannot hold keeps every bit, and the type is part
// of the record.
TEST(Save, MastersAreNotNarrowed) {
  MemoryFileSystem fs;
  MakeRun(fs);
  TestState saved(6);
  saved.model.a[3] = 1.0f + 0x1p-20f;
  saved.model.a[4] = std::numeric_limits<float>::denorm_min();
  ASSERT_TRUE(SaveCheckpoint(fs, OptionsFor(6), saved.registry).ok());
  TestState loaded(1);
  const auto index = LoadCheckpoint(fs, kStep6, loaded.registry);
  ASSERT_TRUE(index.ok()) << index.status();
  EXPECT_EQ(std::memcmp(loaded.model.a.data(), saved.model.a.data(),
                        15 * sizeof(float)),
            0);
  EXPECT_EQ(loaded.model.a[3], 1.0f + 0x1p-20f);
  EXPECT_NE(ShowCheckpoint(*index).find("F32"), std::string::npos);
  auto shard = *SafetensorsFile::Open(
      fs, std::string(kStep6) + "/rank_00000.safetensors");
  EXPECT_EQ(shard->Find("model/a.weight")->dtype, DType::kF32);
  EXPECT_EQ(shard->Find("cursor/loss_scale")->dtype, DType::kF64);
}

TEST(Save, EqualStatesAreEqualFiles) {
  MemoryFileSystem one, two;
  for (MemoryFileSystem* fs : {&one, &two}) {
    MakeRun(*fs);
    ASSERT_TRUE(SaveStep(*fs, 6).ok());
  }
  for (const std::string& name : NamesIn(one, kStep6)) {
    EXPECT_EQ(*one.ReadFile(JoinPath(kStep6, name)),
              *two.ReadFile(JoinPath(kStep6, name)))
        << name;
  }
}

// Case 98: a broken state is never written.
TEST(Save, RefusesStateThatIsNotFinite) {
  const float kBad[] = {std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()};
  for (const float bad : kBad) {
    MemoryFileSystem fs;
    MakeRun(fs);
    ASSERT_TRUE(SaveStep(fs, 5).ok());
    TestState state(6);
    state.model.m[7] = bad;
    const auto saved = SaveCheckpoint(fs, OptionsFor(6), state.registry);
    EXPECT_EQ(ExitCodeFor(saved.status()), 5);
    EXPECT_NE(Text(saved.status()).find("element 7 of model/a.weight.exp_avg"),
              std::string::npos);
    EXPECT_EQ(*fs.List("/run/checkpoints"),
              std::vector<std::string>{"step_00000005"});
  }
  MemoryFileSystem fs;
  MakeRun(fs);
  TestState state(6);
  state.model.v_[2] = -1e-30f;
  EXPECT_EQ(
      ExitCodeFor(SaveCheckpoint(fs, OptionsFor(6), state.registry).status()),
      5);
  state.model.v_[2] = -0.0f;
  EXPECT_TRUE(SaveCheckpoint(fs, OptionsFor(6), state.registry).ok());
}

// Loads what `auto` finds; the step of it, with its bits checked, or -1.
int64_t StepThatLoads(FileSystem& fs) {
  const auto found = FindCheckpoint(fs, kRun, ParseResume("auto"), "run-a");
  if (!found.ok() || found->fresh) return -1;
  TestState loaded(1);
  PoisonState(loaded.registry);
  const auto index = LoadCheckpoint(fs, found->dir, loaded.registry);
  EXPECT_TRUE(index.ok()) << index.status();
  loaded.model.Rebuild();
  EXPECT_EQ(loaded.Fingerprint(), TestState(found->step).Fingerprint());
  return found->step;
}

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

TEST(Save, AStaleTrainerCannotCommit) {
  MemoryFileSystem fs;
  MakeRun(fs);
  ManualClock clock;
  MemoryFileLocker first_locker, second_locker;  // a system that forgot
  auto first = *RunLock::Acquire(fs, first_locker, kRun, {1, "old"}, clock);
  auto second = *RunLock::Acquire(fs, second_locker, kRun, {2, "new"}, clock);
  const TestState state(6);
  SaveOptions options = OptionsFor(6);
  options.lock = first.get();
  EXPECT_EQ(ExitCodeFor(SaveCheckpoint(fs, options, state.registry).status()),
            2);
  EXPECT_FALSE(fs.Exists(kStep6));
  options.lock = second.get();
  const auto saved = SaveCheckpoint(fs, options, state.registry);
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_EQ(saved->index.generation, 2);
}

TEST(Save, AnotherRunsFolderIsKeptAside) {
  MemoryFileSystem fs;
  MakeRun(fs);
  const TestState state(6);
  SaveOptions foreign = OptionsFor(6);
  foreign.run_id = "run-b";
  ASSERT_TRUE(SaveCheckpoint(fs, foreign, state.registry).ok());
  ASSERT_TRUE(SaveStep(fs, 6).ok());
  EXPECT_EQ(
      *fs.List("/run/checkpoints"),
      (std::vector<std::string>{".foreign-step_00000006-0", "step_00000006"}));
  EXPECT_TRUE(CleanLeftovers(fs, kRun)->empty());
}

TEST(Save, AnAbandonedFutureMovesAside) {
  MemoryFileSystem fs;
  MakeRun(fs);
  for (const int64_t step : {5, 6, 7}) ASSERT_TRUE(SaveStep(fs, step).ok());
  EXPECT_EQ(*SetAsideCheckpointsAbove(fs, kRun, 5, 3),
            (std::vector<std::string>{"step_00000006", "step_00000007"}));
  EXPECT_EQ(StepThatLoads(fs), 5);
  EXPECT_EQ(*fs.List("/run/abandoned/3"),
            (std::vector<std::string>{"step_00000006", "step_00000007"}));
  EXPECT_TRUE(SetAsideCheckpointsAbove(fs, kRun, 5, 4)->empty());
}

}  // namespace
}  // namespace lockstep
