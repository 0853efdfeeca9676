// What a launch has kept stays.

#include "tools/launches.h"

#include "determinism/memory_file_system.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(LaunchesTest, WhatALaunchHasKeptIsNeverReplaced) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirs("/run").ok());
  const std::string name = *KeepLaunch(fs, "/run", 1, "first");
  EXPECT_EQ(name, "launches/launch_00000001.json");
  EXPECT_TRUE(KeepLaunch(fs, "/run", 1, "first").ok());
  const auto second = KeepLaunch(fs, "/run", 1, "second");
  EXPECT_EQ(ExitCodeFor(second.status()), 2);
  EXPECT_EQ(*fs.ReadFile("/run/" + name), "first");
  EXPECT_TRUE(KeepLaunch(fs, "/run", 2, "second").ok());
}

}  // namespace
}  // namespace lockstep
