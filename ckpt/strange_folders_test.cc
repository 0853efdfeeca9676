// Pipes where a run should have a folder, and what may not be read.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "ckpt/bounded_read.h"
#include "ckpt/verify_run.h"
#include "ckpt/whole_run_for_test.h"
#include "determinism/file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// In place of a whole folder.
TEST(StrangeFiles, AreNamedWhereAFolderShouldBe) {
  FileSystem& disk = *PosixFileSystem();
  const std::string run = testing::TempDir() + "/strange_folders";
  ASSERT_TRUE(disk.MakeDirs(run).ok());
  WriteRun(disk, run);
  ASSERT_TRUE(disk.MakeDirs(run + "/launches").ok());
  for (const auto& [folder, file] : {
           std::pair("launches", "launches"),
           std::pair("checkpoints", "checkpoints"),
           std::pair("checkpoints/step_00000003",
                     "checkpoints/step_00000003/index.json"),
       }) {
    const std::string path = JoinPath(run, folder);
    ASSERT_TRUE(disk.Rename(path, run + "/away").ok());
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    const auto result = VerifyRun(disk, run);
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_FALSE(result->damage.empty()) << file;
    EXPECT_EQ(result->damage[0].file, file) << RunVerifyResultToJson(*result);
    ASSERT_TRUE(disk.Remove(path).ok());
    ASSERT_TRUE(disk.Rename(run + "/away", path).ok());
  }
  EXPECT_TRUE(VerifyRun(disk, run)->ok);
}

// Whoever may not read a manifest or a ledger has lost nothing.
TEST(AsDamageAtResume, LackingPermissionIsNone) {
  EXPECT_EQ(ExitCodeFor(AsDamageAtResume(InputError(
                "open: Permission denied", "/run/manifest.json", "chmod"))),
            2);
  EXPECT_EQ(ExitCodeFor(AsDamageAtResume(InputError(
                "this is no regular file", "/run/Permission denied", "x"))),
            3);
}

}  // namespace
}  // namespace lockstep
