#include "tools/bench/bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

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
    const auto refused = bench.run({.peer = "nobody"});
    EXPECT_EQ(ExitCodeFor(refused.status()), 2) << bench.name;
  }
  EXPECT_GE(names.size(), 2u);
}

TEST(BenchTest, TakesTurns) {
  std::string order;
  InTurns(
      3, [&] { order += 'a'; }, [&] { order += 'b'; });
  EXPECT_EQ(order, "ababab");
}

}  // namespace
}  // namespace lockstep
