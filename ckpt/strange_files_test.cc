// Links, pipes and files without measure among those of a run.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "ckpt/ledger.h"
#include "ckpt/load.h"
#include "ckpt/run_lock.h"
#include "ckpt/test_state.h"
#include "ckpt/verify.h"
#include "ckpt/verify_run.h"
#include "ckpt/whole_run_for_test.h"
#include "determinism/file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// A shard that is a link may change under whoever has checked it.
TEST(Links, AreDamageAndAreNotLoaded) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/links";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  WriteRun(disk, run);
  const std::string dir = run + "/checkpoints/step_00000003";
  for (const std::string name : {"rank_00000.safetensors", "manifest.json"}) {
    const std::string path = JoinPath(dir, name);
    ASSERT_TRUE(disk.Rename(path, run + "/away").ok());
    ASSERT_EQ(symlink((run + "/away").c_str(), path.c_str()), 0);
    const RunVerifyResult result = *VerifyRun(disk, run);
    ASSERT_EQ(result.damage.size(), 1u);
    EXPECT_EQ(result.damage[0].file, "checkpoints/step_00000003/" + name);
    EXPECT_EQ(result.damage[0].what, "is a symbolic link");
    TestState state(1);
    const auto loaded = LoadCheckpoint(disk, dir, state.registry);
    EXPECT_EQ(ExitCodeFor(loaded.status()), 4) << name;
    ASSERT_TRUE(disk.Remove(path).ok());
    ASSERT_TRUE(disk.Rename(run + "/away", path).ok());
  }
  EXPECT_TRUE(VerifyRun(disk, run)->ok);
}

// Its index, and the folder itself; the folder of them all may lie elsewhere.
TEST(Links, OfAnIndexOrAStepFolderAreDamage) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/links_above";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  WriteRun(disk, run);
  const std::string dir = run + "/checkpoints/step_00000003";
  for (const std::string& path : {dir + "/index.json", dir}) {
    ASSERT_TRUE(disk.Rename(path, run + "/away").ok());
    ASSERT_EQ(symlink((run + "/away").c_str(), path.c_str()), 0);
    const VerifyResult result = *VerifyCheckpoint(disk, dir);
    ASSERT_EQ(result.damage.size(), 1u) << path;
    EXPECT_NE(result.damage[0].what.find("is a symbolic link"),
              std::string::npos);
    TestState state(1);
    const auto loaded = LoadCheckpoint(disk, dir, state.registry);
    EXPECT_EQ(ExitCodeFor(loaded.status()), 4) << path;
    ASSERT_TRUE(disk.Remove(path).ok());
    ASSERT_TRUE(disk.Rename(run + "/away", path).ok());
  }
  ASSERT_TRUE(disk.Rename(run + "/checkpoints", run + "/away").ok());
  ASSERT_EQ(symlink((run + "/away").c_str(), (run + "/checkpoints").c_str()),
            0);
  EXPECT_TRUE(VerifyRun(disk, run)->ok);
}

constexpr char kOldShard[] = "checkpoints/step_00000001/rank_00000.safetensors";

bool Names(const RunVerifyResult& result, const std::string& file,
           const std::string& part) {
  for (const Damage& damage : result.damage) {
    if (damage.file == file && damage.what.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

// And what else is damaged.
void ExpectNamed(FileSystem& disk, const std::string& run,
                 const std::string& file, const std::string& part) {
  const auto result = VerifyRun(disk, run);
  ASSERT_TRUE(result.ok()) << file << ": " << result.status();
  EXPECT_TRUE(Names(*result, file, part)) << RunVerifyResultToJson(*result);
  EXPECT_TRUE(Names(*result, kOldShard, "after the end")) << file;
}

// A pipe would be waited for without end, and a sparse file of terabytes costs
// nothing to make.
TEST(StrangeFiles, NeitherHangNorFillMemory) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/strange";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  WriteRun(disk, run);
  ASSERT_TRUE(disk.MakeDirs(run + "/launches").ok());
  Overwrite(disk, run + "/launches/launch_00000001.json",
            *disk.ReadFile(run + "/manifest.json"));
  // What all the others must not hide.
  const std::string old = run + "/" + kOldShard;
  const std::string sound = *disk.ReadFile(old);
  Overwrite(disk, old, sound + "!");
  const std::string step = "checkpoints/step_00000003/";
  for (const std::string& name :
       {step + "index.json", step + "rank_00000.safetensors",
        step + "manifest.json", std::string("ledger.jsonl"),
        std::string("ledger_head"), std::string("manifest.json"),
        std::string("launches/launch_00000001.json")}) {
    const std::string path = JoinPath(run, name);
    ASSERT_TRUE(disk.Rename(path, run + "/away").ok());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    ExpectNamed(disk, run, name, "no regular file");
    ASSERT_TRUE(disk.Remove(path).ok());
    ASSERT_TRUE(disk.MakeDirs(path).ok());
    ExpectNamed(disk, run, name, "");
    ASSERT_TRUE(disk.Remove(path).ok());
    Overwrite(disk, path, "");
    ASSERT_EQ(truncate(path.c_str(), off_t{3} << 40), 0);
    if (name.find("rank") == std::string::npos) {
      const auto large = VerifyRun(disk, run);
      ASSERT_TRUE(large.ok()) << large.status();
      EXPECT_FALSE(large->ok) << name;
    }
    ASSERT_TRUE(disk.Remove(path).ok());
    ASSERT_TRUE(disk.Rename(run + "/away", path).ok());
  }
  Overwrite(disk, old, sound);
  EXPECT_TRUE(VerifyRun(disk, run)->ok);
}

// What can be in a file's place that no file of a run is.
constexpr const char* kKinds[] = {"folder", "pipe", "giant", "link"};
void Put(const std::string& kind, const std::string& path) {
  int failed = 0;
  if (kind == "folder") failed = mkdir(path.c_str(), 0700);
  if (kind == "pipe") failed = mkfifo(path.c_str(), 0600);
  if (kind == "link") failed = symlink("/gone/file", path.c_str());
  if (kind == "giant") {
    Overwrite(*PosixFileSystem(), path, "");
    failed = truncate(path.c_str(), off_t{3} << 40);
  }
  ASSERT_EQ(failed, 0);
}

// Whoever named the run can mend it: no internal error.
TEST(StrangeFiles, ALockThatIsNoFileIsToldAsInput) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/strange_lock";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  ManualClock clock{1000};
  for (const std::string kind : kKinds) {
    Put(kind, run + "/lock");
    const auto lock =
        RunLock::Acquire(disk, *PosixFileLocker(), run, ThisProcess(), clock);
    EXPECT_EQ(ExitCodeFor(lock.status()), 2) << kind << ": " << lock.status();
    EXPECT_NE(Text(lock.status()).find(run + "/lock"), std::string::npos);
    ASSERT_TRUE(disk.Remove(run + "/lock").ok());
  }
  EXPECT_TRUE(
      RunLock::Acquire(disk, *PosixFileLocker(), run, ThisProcess(), clock)
          .ok());
}

// A ledger that a resume finds damaged ends with 3, in whatever way it is.
TEST(StrangeFiles, InTheLedgersPlaceAreDamageAtResume) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/strange_ledger";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  ManualClock clock{1000};
  for (const char* const name : {"/ledger.jsonl", "/ledger_head"}) {
    for (const std::string kind : {"folder", "pipe", "giant"}) {
      Put(kind, run + name);
      const auto ledger = Ledger::Open(disk, run, clock, nullptr);
      EXPECT_EQ(ExitCodeFor(ledger.status()), 3)
          << kind << ": " << ledger.status();
      ASSERT_TRUE(disk.Remove(run + name).ok());
    }
  }
  EXPECT_TRUE(Ledger::Open(disk, run, clock, nullptr).ok());
}

}  // namespace
}  // namespace lockstep
