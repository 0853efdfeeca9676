#include "tools/bench/scratch.h"

#include <gtest/gtest.h>

#include <string>

#include "determinism/file_system.h"

namespace lockstep {
namespace {

class ScratchTest : public testing::Test {
 protected:
  ScratchTest() { EXPECT_TRUE(fs_.MakeDirs(parent_).ok()); }
  ~ScratchTest() override { EXPECT_TRUE(fs_.RemoveTree(parent_).ok()); }

  void Leave(const std::string& name, const std::string& file) {
    ASSERT_TRUE(fs_.MakeDirs(parent_ + "/" + name).ok());
    auto made = fs_.Create(parent_ + "/" + name + "/" + file);
    ASSERT_TRUE(made.ok() && (*made)->Close().ok());
  }
  bool Has(const std::string& name) { return fs_.Exists(parent_ + "/" + name); }

  FileSystem& fs_ = *PosixFileSystem();
  const std::string parent_ = testing::TempDir() + "/scratch_test";
};

TEST_F(ScratchTest, IsGoneAtTheEnd) {
  std::string dir;
  {
    const auto scratch = Scratch::Make(parent_);
    ASSERT_TRUE(scratch.ok()) << scratch.status();
    dir = scratch->dir();
    EXPECT_TRUE(fs_.Exists(dir));
  }
  EXPECT_FALSE(fs_.Exists(dir));
}

TEST_F(ScratchTest, TakesAwayWhatKilledOnesLeft) {
  Leave("lockstep-bench-killed", "alive");
  Leave("lockstep-bench-beginning", "alive.new");
  Leave("lockstep-other", "alive");
  const auto first = Scratch::Make(parent_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(Has("lockstep-bench-killed"));
  EXPECT_TRUE(Has("lockstep-bench-beginning"));
  EXPECT_TRUE(Has("lockstep-other"));
  const auto second = Scratch::Make(parent_);  // beside one that lives
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(fs_.Exists(first->dir()));
}

TEST_F(ScratchTest, AFolderThatIsNotThereIsRefused) {
  EXPECT_FALSE(Scratch::Make(parent_ + "/none").ok());
}

}  // namespace
}  // namespace lockstep
