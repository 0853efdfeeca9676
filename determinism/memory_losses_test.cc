// All losses of a power cut, counted and told apart.

#include <set>
#include <string>
#include <vector>

#include "determinism/memory_file_system.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(MemoryLossesTest, TheyCanBeGoneThroughOneByOne) {
  std::set<std::string> seen;
  const auto make = [](MemoryFileSystem& fs) {
    auto y = fs.Create("/y");
    EXPECT_TRUE((*y)->Append("durable").ok());
    EXPECT_TRUE((*y)->Sync().ok());
    auto file = fs.Create("/x");
    EXPECT_TRUE((*file)->Append("abcd").ok());
    EXPECT_TRUE((*file)->Append("efgh").ok());
    EXPECT_TRUE((*fs.Create("/y"))->Append("z").ok());
    EXPECT_EQ(fs.name_changes(), 2);
    // x: 8 outcomes; y: not even truncated, empty, a zero, z.
    EXPECT_EQ(fs.CountLosses(), 2u * 2 * 8 * 4);
  };
  {
    MemoryFileSystem fs;
    make(fs);
    EXPECT_TRUE(fs.DataOutcomes({false, false}).empty());
    EXPECT_EQ(fs.DataOutcomes({true, true}), (std::vector<int64_t>{4, 8}));
    fs.CrashKeeping({false, false}, {});
    EXPECT_TRUE(fs.List("/")->empty());
  }
  for (int64_t x = 0; x < 8; ++x) {
    MemoryFileSystem fs;
    make(fs);
    EXPECT_EQ(fs.DataOutcomes({false, true}), std::vector<int64_t>{8});
    fs.CrashKeeping({false, true}, {x});
    EXPECT_FALSE(fs.Exists("/y"));
    seen.insert(*fs.ReadFile("/x"));
    EXPECT_EQ(fs.CountLosses(), 1u);
  }
  using namespace std::string_literals;
  EXPECT_EQ(seen, (std::set<std::string>{"", "ab", "\0\0\0\0"s, "abcd",
                                         "abcdef", "abcd\0\0\0\0"s, "abcdefgh",
                                         "\0\0\0\0efgh"s}));
  MemoryFileSystem fs;
  make(fs);
  fs.CrashKeeping({true, false}, {0});
  EXPECT_EQ(*fs.ReadFile("/y"), "durable");
}

}  // namespace
}  // namespace lockstep
