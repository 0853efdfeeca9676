// Every operation's folder is in the registry, and the registry makes sense.

#include "model/kernels/registry.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// The real folder behind the test's link to all_kernels.cc, so that a folder
// that no BUILD file here mentions is seen as well.
fs::path KernelsFolder() {
  const char* runfiles = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (runfiles == nullptr || workspace == nullptr) return {};
  return fs::canonical(fs::path(runfiles) / workspace /
                       "model/kernels/all_kernels.cc")
      .parent_path();
}

std::set<std::string> Listed() {
  std::set<std::string> names;
  for (const KernelInfo& info : AllKernels()) names.insert(info.operation);
  return names;
}

TEST(RegistryTest, EveryFolderIsListed) {
  const fs::path folder = KernelsFolder();
  ASSERT_FALSE(folder.empty());
  int folders = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() || !fs::exists(entry.path() / "BUILD")) continue;
    ++folders;
    EXPECT_TRUE(Listed().count(entry.path().filename().string()))
        << entry.path() << " needs a line in all_kernels.cc";
  }
  EXPECT_GT(folders, 0) << "no folders under " << folder;
  EXPECT_EQ(folders, static_cast<int>(AllKernels().size()))
      << "an entry without a folder";
}

TEST(RegistryTest, EntriesAreSortedAndComplete) {
  std::string previous;
  for (const KernelInfo& info : AllKernels()) {
    EXPECT_LT(previous, info.operation);
    previous = info.operation;
    EXPECT_NE(std::string(info.order), "") << info.operation;
    EXPECT_NE(std::string(info.clause), "") << info.operation;
    ASSERT_FALSE(info.levels.empty()) << info.operation;
    EXPECT_EQ(info.levels.front(), Isa::kScalar) << info.operation;
  }
}

int One() { return 1; }
int Two() { return 2; }

TEST(RegistryTest, ForFallsToTheNextLowerLevel) {
  const KernelVariants<int (*)()> variants{
      "test", "none", {&One, nullptr, &Two, nullptr}};
  EXPECT_EQ(variants.For(Isa::kScalar)(), 1);
  EXPECT_EQ(variants.For(Isa::kAvx2)(), 1);
  EXPECT_EQ(variants.For(Isa::kAvx512)(), 2);
  EXPECT_EQ(variants.For(Isa::kAmx)(), 2);
  EXPECT_EQ(variants.Levels(), (std::vector<Isa>{Isa::kScalar, Isa::kAvx512}));
}

}  // namespace
}  // namespace lockstep
