#include "tools/bench/bench.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "determinism/check.h"
#include "determinism/status.h"
#include "tools/bench/in_turns.h"

namespace lockstep {
namespace {

TEST(BenchTest, JsonSaysNullWhereNothingWasCompared) {
  const std::vector<BenchCase> cases = {
      {.name = "a", .threads = 2, .rate = 3, .unit = "x/s"},
      {.name = "b",
       .rate = 4,
       .unit = "y/s",
       .probe = 8,
       .ratio = 0.5,
       .peer = "other",
       .peer_ratio = 2}};
  const std::string text = BenchJson("name", cases);
  EXPECT_EQ(text,
            "{\"bench\":\"name\",\"cases\":[{\"name\":\"a\",\"threads\":2,"
            "\"rate\":3.0,\"unit\":\"x/s\",\"probe\":null,\"ratio\":null,"
            "\"peer\":null,\"peer_ratio\":null},{\"name\":\"b\",\"threads\":1,"
            "\"rate\":4.0,\"unit\":\"y/s\",\"probe\":8.0,\"ratio\":0.5,"
            "\"peer\":\"other\",\"peer_ratio\":2.0}]}\n");
  const std::string table = BenchTable(cases);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3);
  EXPECT_NE(table.find("0.500 other 2.000"), std::string::npos) << table;
}

TEST(BenchTest, BenchesHaveNamesOfTheirOwnAndRefuseAnUnknownPeer) {
  std::set<std::string> names;
  for (const Bench& bench : AllBenches()) {
    EXPECT_TRUE(names.insert(bench.name).second) << bench.name;
    const auto refused = RunBench(bench, {.peer = "nobody"});
    EXPECT_EQ(ExitCodeFor(refused.status()), 2) << bench.name;
  }
  EXPECT_GE(names.size(), 2u);
}

const Bench& BenchOf(const std::string& name) {
  for (const Bench& bench : AllBenches()) {
    if (name == bench.name) return bench;
  }
  LS_CHECK(false) << name;
  return AllBenches().front();
}

TEST(BenchTest, NothingThatWasAskedForIsPassedOver) {
  const auto refused = RunBench(BenchOf("order"), {.rounds = 3});
  EXPECT_EQ(ExitCodeFor(refused.status()), 2);
  EXPECT_NE(refused.status().message().find("no use for --rounds"),
            std::string::npos)
      << refused.status();
  for (const char* name : {"fingerprint", "gemm", "trace"}) {
    const auto none = RunBench(BenchOf(name), {.only = "no such case"});
    EXPECT_EQ(ExitCodeFor(none.status()), 2) << name << none.status();
  }
  const auto cut = RunBench(BenchOf("step"), {.recipe = "recipes/debug.toml",
                                              .sets = {"parallel.tensor=2"}});
  EXPECT_EQ(ExitCodeFor(cut.status()), 2) << cut.status();
  setenv("LOCKSTEP_ISA", "avx9", 1);
  const auto level = RunBench(BenchOf("fingerprint"), {.rounds = 1});
  unsetenv("LOCKSTEP_ISA");
  EXPECT_EQ(ExitCodeFor(level.status()), 2) << level.status();
}

TEST(BenchTest, OnlyTheNamedCasesAreMeasured) {
  const auto some =
      RunBench(BenchOf("fingerprint"), {.rounds = 1, .only = "four"});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->size(), 2u);
}

TEST(BenchTest, TakesTurns) {
  std::string order;
  InTurns(
      3, [&] { order += 'a'; }, [&] { order += 'b'; });
  EXPECT_EQ(order, "ababab");
}

}  // namespace
}  // namespace lockstep
