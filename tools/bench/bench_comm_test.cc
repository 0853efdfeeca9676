// What the bench of collectives says: every call has its probe and an interval
// around its ratio.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "determinism/status.h"
#include "parallel/comm_bench.h"
#include "tools/bench/benches.h"

namespace lockstep {
namespace {

TEST(BenchCommTest, EveryCallHasAProbeAndAnInterval) {
  const auto cases = BenchComm({.rounds = 7, .ranks = 2});
  ASSERT_TRUE(cases.ok()) << std::string(cases.status().message());
  std::set<std::string> calls;
  for (const BenchCase& c : *cases) {
    EXPECT_NE(c.name.find(", 2 threads"), std::string::npos) << c.name;
    EXPECT_GT(c.rate, 0) << c.name;
    calls.insert(c.name.substr(0, c.name.find_first_of(" ,")));
    if (c.unit == "calls/s") continue;
    EXPECT_GT(c.probe, 0) << c.name;
    EXPECT_LE(c.ratio_low, c.ratio) << c.name;
    EXPECT_GE(c.ratio_high, c.ratio) << c.name;
  }
  for (const char* call :
       {"barrier", "all_reduce_ordered_f32", "all_reduce_fast_f32",
        "all_reduce_tree_f32", "all_reduce_sum_i64", "reduce_scatter_sum_i64",
        "reduce_scatter_ordered_f32", "all_gather", "broadcast", "ring"}) {
    EXPECT_TRUE(calls.contains(call)) << call;
  }
  EXPECT_EQ(cases->size(), 1u + 3 * 9);
}

TEST(BenchCommTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(ExitCodeFor(BenchComm({.only = "no such case"}).status()), 2);
  EXPECT_EQ(ExitCodeFor(BenchComm({.ranks = 0}).status()), 2);
  EXPECT_EQ(ExitCodeFor(BenchComm({.ranks = 65}).status()), 2);
  const auto three = BenchComm({.rounds = 1, .only = "tree", .ranks = 3});
  EXPECT_EQ(ExitCodeFor(three.status()), 2) << "a tree takes a power of two";
}

// Binomial tails: of 6 values all 6, 2 * 2^-6 = 3.1 %; of 15 the 4th to the
// 12th, 2 * 576 / 2^15 = 3.5 %.
TEST(BenchCommTest, TheIntervalIsOfTheMedian) {
  std::vector<double> values;
  for (int i = 1; i <= 15; ++i) values.push_back(16 - i);
  const MedianInterval of15 = MedianOf(values);
  EXPECT_EQ(of15.median, 8);
  EXPECT_EQ(of15.low, 4);
  EXPECT_EQ(of15.high, 12);
  values.resize(6);
  EXPECT_EQ(MedianOf(values).low, 10);
  EXPECT_EQ(MedianOf(values).high, 15);
  values.resize(1);
  EXPECT_EQ(MedianOf(values).low, 15);
}

}  // namespace
}  // namespace lockstep
