// A run verified while a trainer is at work on it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ckpt/verify_run.h"
#include "ckpt/whole_run_for_test.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kFirst[] = "/run/checkpoints/step_00000001";

// Retention takes a checkpoint between the look at its index and at its folder.
class RetentionAtWork : public MemoryFileSystem {
 public:
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) override {
    if (dir == kFirst && Exists(kFirst)) {
      ManualClock clock{2000};
      const auto ledger = *Ledger::Open(*this, kRun, clock, nullptr);
      EXPECT_TRUE(
          ledger
              ->Append("retention",
                       {{"removed", std::vector<std::string>{"step_00000001"}}})
              .ok());
      EXPECT_TRUE(RemoveTree(kFirst).ok());
    }
    return MemoryFileSystem::List(dir);
  }
};

TEST(VerifyLiveTest, WhatRetentionTakesMeanwhileIsNoDamage) {
  RetentionAtWork fs;
  MakeRun(fs);
  WriteRun(fs, kRun);
  const auto result = VerifyRun(fs, kRun);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->ok) << RunVerifyResultToJson(*result);
  EXPECT_EQ(result->steps, (std::vector<int64_t>{2, 3}));
  EXPECT_FALSE(fs.Exists(kFirst));
}

// Of a folder that may not be listed nobody knows that it is empty.
class NoPermission : public MemoryFileSystem {
 public:
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) override {
    if (closed && dir == CheckpointsDir(kRun)) {
      return InputError("list: Permission denied", dir, "check its mode");
    }
    return MemoryFileSystem::List(dir);
  }
  bool Exists(const std::string& path) override {
    const bool below = path.starts_with(CheckpointsDir(kRun) + "/");
    return !(closed && below) && MemoryFileSystem::Exists(path);
  }
  bool closed = false;
};

TEST(VerifyLiveTest, WhatMayNotBeListedIsNotGone) {
  NoPermission fs;
  MakeRun(fs);
  WriteRun(fs, kRun);
  fs.closed = true;
  const RunVerifyResult result = *VerifyRun(fs, kRun);
  ASSERT_EQ(result.damage.size(), 1u) << RunVerifyResultToJson(result);
  EXPECT_EQ(result.damage[0].file, "checkpoints");
  EXPECT_EQ(result.damage[0].what, "list: Permission denied");
}

}  // namespace
}  // namespace lockstep
