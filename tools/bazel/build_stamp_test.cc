#include "tools/bazel/build_stamp.h"

#include <string>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(BuildStampTest, AnUnstampedBuildIsDirty) {
  if (!BuildStamped()) {
    EXPECT_TRUE(BuildDirty());
  } else {
    EXPECT_EQ(std::string(BuildCommit()).size(), 40u);
  }
}

TEST(BuildStampTest, NamesTheCompilerAndTheFloatFlags) {
  const std::string compiler = BuildCompiler();
  EXPECT_TRUE(compiler.starts_with("g++ ") || compiler.starts_with("clang "))
      << compiler;
  EXPECT_NE(compiler.find(" -ffp-contract=off"), std::string::npos) << compiler;
}

}  // namespace
}  // namespace lockstep
