// One live trainer a run.

#include "ckpt/run_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "ckpt/ledger.h"
#include "ckpt/test_state.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class RunLockTest : public testing::Test {
 protected:
  RunLockTest() { MakeRun(fs); }
  MemoryFileSystem fs;
  ManualClock clock{1000};
};

TEST_F(RunLockTest, ASecondTrainerIsRefusedByName) {
  MemoryFileLocker locker;
  auto lock = *RunLock::Acquire(fs, locker, kRun, {41, "alpha"}, clock);
  EXPECT_EQ(lock->generation(), 1);
  const auto second = RunLock::Acquire(fs, locker, kRun, {42, "beta"}, clock);
  EXPECT_EQ(ExitCodeFor(second.status()), 2);
  EXPECT_NE(Text(second.status()).find("process 41 on alpha"),
            std::string::npos);
  EXPECT_TRUE(lock->CheckStillHolder().ok());
  lock.reset();
  auto third = *RunLock::Acquire(fs, locker, kRun, {43, "beta"}, clock);
  EXPECT_EQ(third->generation(), 2);
}

TEST_F(RunLockTest, LockSurvivesATornLineWithoutReusingANumber) {
  Overwrite(fs, "/run/lock",
            "{\"generation\":4,\"pid\":1,\"host\":\"h\",\"time_ms\":1}\n"
            "{\"generation\":5,\"pi");
  MemoryFileLocker locker;
  auto lock = *RunLock::Acquire(fs, locker, kRun, {2, "h"}, clock);
  EXPECT_EQ(lock->generation(), 6);
  EXPECT_TRUE(lock->CheckStillHolder().ok());
}

// Somebody deletes the file: no number comes back, or a launch's manifest and
// the checkpoints of a stale trainer would have a second owner.
TEST_F(RunLockTest, ADeletedFileDoesNotBringANumberBack) {
  MemoryFileLocker locker;
  ASSERT_TRUE(fs.MakeDirs("/run/launches").ok());
  Overwrite(fs, "/run/launches/launch_00000003.json", "{}");
  Overwrite(fs, "/run/launches/notes", "no launch");
  auto lock = *RunLock::Acquire(fs, locker, kRun, {2, "h"}, clock);
  EXPECT_EQ(lock->generation(), 4);
  auto ledger = *Ledger::Open(fs, kRun, clock, lock.get());
  ASSERT_TRUE(
      ledger->Append("launch", {{"manifest", "launches/launch_00000008.json"}})
          .ok());
  lock.reset();
  ASSERT_TRUE(fs.Remove("/run/lock").ok());
  lock = *RunLock::Acquire(fs, locker, kRun, {2, "h"}, clock);
  EXPECT_EQ(lock->generation(), 9);
}

// It would overflow, or come to a number that no JSON reader keeps.
TEST_F(RunLockTest, AGenerationThatNoTrainerCountsToIsNamed) {
  for (const char* const number : {"9223372036854775807", "9007199254740992"}) {
    Overwrite(fs, "/run/lock",
              std::string("{\"generation\":") + number +
                  ",\"pid\":1,\"host\":\"h\",\"time_ms\":1}\n");
    MemoryFileLocker locker;
    const auto lock = RunLock::Acquire(fs, locker, kRun, {2, "h"}, clock);
    EXPECT_EQ(ExitCodeFor(lock.status()), 2);
    EXPECT_NE(Text(lock.status()).find("was written by no trainer"),
              std::string::npos);
  }
  ASSERT_TRUE(fs.Remove("/run/lock").ok());
  ASSERT_TRUE(fs.MakeDirs("/run/launches").ok());
  Overwrite(fs, "/run/launches/launch_9223372036854775807.json", "{}");
  MemoryFileLocker locker;
  EXPECT_EQ(
      ExitCodeFor(RunLock::Acquire(fs, locker, kRun, {2, "h"}, clock).status()),
      2);
}

TEST(PosixLock, FlockRefusesASecondHolderAndEndsWithTheFirst) {
  const std::string dir = testing::TempDir() + "lock_test";
  FileSystem& fs = *PosixFileSystem();
  ASSERT_TRUE(fs.RemoveTree(dir).ok());
  ASSERT_TRUE(fs.MakeDirs(dir).ok());
  RealClock clock;
  auto lock =
      RunLock::Acquire(fs, *PosixFileLocker(), dir, ThisProcess(), clock);
  ASSERT_TRUE(lock.ok()) << lock.status();
  const auto second =
      RunLock::Acquire(fs, *PosixFileLocker(), dir, ThisProcess(), clock);
  EXPECT_NE(Text(second.status()).find(std::to_string(getpid())),
            std::string::npos);
  lock->reset();
  EXPECT_TRUE(
      RunLock::Acquire(fs, *PosixFileLocker(), dir, ThisProcess(), clock).ok());
}

}  // namespace
}  // namespace lockstep
