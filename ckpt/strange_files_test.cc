// Links, pipes and files without measure among those of a run.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "ckpt/load.h"
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

// A pipe would be waited for without end, and a sparse file of terabytes costs
// nothing to make.
TEST(StrangeFiles, NeitherHangNorFillMemory) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/strange";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  WriteRun(disk, run);
  const std::string step = "checkpoints/step_00000003/";
  for (const std::string& name :
       {step + "index.json", step + "rank_00000.safetensors",
        std::string("ledger.jsonl"), std::string("manifest.json")}) {
    const std::string path = JoinPath(run, name);
    ASSERT_TRUE(disk.Rename(path, run + "/away").ok());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto piped = VerifyRun(disk, run);
    EXPECT_NE(Text(piped.status()).find("no regular file"), std::string::npos)
        << name;
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
  EXPECT_TRUE(VerifyRun(disk, run)->ok);
}

}  // namespace
}  // namespace lockstep
