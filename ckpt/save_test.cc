// Save and load: the bits come back, and a crash at any call leaves the old
// checkpoint or the new one.

#include "ckpt/save.h"

#include <gtest/gtest.h>

#include <limits>

#include "ckpt/load.h"
#include "ckpt/load_for_test.h"
#include "ckpt/run_lock.h"
#include "ckpt/safetensors.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
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

TEST(Save, OnARealDisk) {
  FileSystem& fs = *PosixFileSystem();
  SaveOptions options = OptionsFor(6);
  options.run_dir = testing::TempDir() + "save_test";
  ASSERT_TRUE(fs.RemoveTree(options.run_dir).ok());
  ASSERT_TRUE(fs.MakeDirs(options.run_dir).ok());
  const TestState saved(6);
  for (int twice = 0; twice < 2; ++twice) {
    const auto checkpoint = SaveCheckpoint(fs, options, saved.registry);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    TestState loaded(1);
    ASSERT_TRUE(LoadCheckpoint(fs, checkpoint->dir, loaded.registry).ok());
    loaded.model.Rebuild();
    EXPECT_EQ(loaded.Fingerprint(), saved.Fingerprint());
    EXPECT_TRUE(VerifyCheckpoint(fs, checkpoint->dir)->ok);
  }
  EXPECT_EQ(NamesIn(fs, CheckpointsDir(options.run_dir)),
            std::vector<std::string>{"step_00000006"});
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
