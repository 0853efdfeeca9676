// Which programs can be started, as execvp finds them.

#include "tools/launch/program_path.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "determinism/file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

class ProgramPathTest : public testing::Test {
 protected:
  ProgramPathTest() {
    EXPECT_TRUE(fs_.RemoveTree(dir_).ok());
    for (const char* folder : {"/a", "/b", "/a/folder"}) {
      EXPECT_TRUE(fs_.MakeDirs(dir_ + folder).ok());
    }
    Make("/a/plain", 0644);
    Make("/b/plain", 0755);
    Make("/a/shut", 0644);
  }
  void Make(const std::string& name, mode_t mode) {
    const std::string path = dir_ + name;
    EXPECT_TRUE(WriteFileAtomically(fs_, path, "#!/bin/sh\n").ok());
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
  }
  // What is said of it; "": it can be started.
  std::string Said(const std::string& program) {
    const absl::Status status =
        CheckProgram(program, "--mpirun", dir_ + "/a:" + dir_ + "/b");
    if (status.ok()) return "";
    EXPECT_EQ(ExitCodeFor(status), 2);
    EXPECT_NE(status.message().find("--mpirun " + program), std::string::npos);
    return std::string(status.message());
  }
  void Expect(const std::string& program, const std::string& text) {
    const std::string said = Said(program);
    EXPECT_NE(said.find(text), std::string::npos) << program << ": " << said;
  }

  FileSystem& fs_ = *PosixFileSystem();
  const std::string dir_ = testing::TempDir() + "program_path_test";
};

TEST_F(ProgramPathTest, ByItsPath) {
  EXPECT_EQ(Said(dir_ + "/b/plain"), "");
  Expect(dir_ + "/b/none", "none is not there");
  Expect(dir_ + "/b/plain/x", "x is not there");
  Expect(dir_ + "/a", "/a is a folder");
  Expect(dir_ + "/a/shut", "shut may not be executed");
  Expect("/dev/null", "/dev/null is no file");
}

TEST_F(ProgramPathTest, ByItsNameInAnyFolderOfThePath) {
  EXPECT_EQ(Said("plain"), "");  // the second one, as the first is shut
  Expect("none", "no folder of PATH has a program 'none'");
  Expect("shut", "/a/shut may not be executed");
  Expect("folder", "/a/folder is a folder");
  Expect("", "has a program ''");
}

// An empty part of it is the folder that the process is in.
TEST_F(ProgramPathTest, AnEmptyPartIsThisFolder) {
  ASSERT_EQ(chdir((dir_ + "/b").c_str()), 0);
  EXPECT_TRUE(CheckProgram("plain", "--mpirun", "/none:").ok());
  EXPECT_FALSE(CheckProgram("plain", "--mpirun", "/none").ok());
}

}  // namespace
}  // namespace lockstep
