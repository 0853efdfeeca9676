// Where a difference grows is told, and where it only is is not.
#include "tools/trace_diff/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {
namespace {

// Four elements, of which the largest is 8.
TracedTensor Tensor(const std::string& name, const std::string& dtype,
                    double off) {
  return {.name = name,
          .dtype = dtype,
          .shape = {4},
          .global_shape = {},
          .held = {},
          .value = {{1, static_cast<uint64_t>(off * 1e12)}},
          .values = TracedValues{.absmax = 8,
                                 .rms = 4,
                                 .elements = {0, 1, 2, 3},
                                 .sample = {1, 8, -2, 3 + off}}};
}

TEST(DistanceTest, IsRelativeToTheLargestElement) {
  const TracedTensor exact = Tensor("x", "F32", 0);
  EXPECT_EQ(RelativeDistance(exact, exact), 0);
  EXPECT_EQ(RelativeDistance(exact, Tensor("x", "BF16", 8 * 0x1p-20)), 0x1p-20);
  TracedTensor larger = exact;
  larger.values->absmax = 8 + 24 * 0x1p-23;
  EXPECT_NEAR(*RelativeDistance(exact, larger), 3 * 0x1p-23, 1e-12);
  TracedTensor broken = exact;
  broken.values->non_finite = 1;
  EXPECT_EQ(RelativeDistance(exact, broken), HUGE_VAL);
  TracedTensor bare = exact;
  bare.values.reset();
  EXPECT_FALSE(RelativeDistance(exact, bare).has_value());
}

TEST(DistanceTest, OfBytesEveryElementCounts) {
  TracedTensor a = Tensor("x", "F32", 0), b = a;
  std::vector<float> values = {1, 8, -2, 3}, others = values;
  others[2] += 8 * 0x1p-20f;
  a.values->contents.assign(reinterpret_cast<const char*>(values.data()), 16);
  b.values->contents.assign(reinterpret_cast<const char*>(others.data()), 16);
  EXPECT_NEAR(*RelativeDistance(a, b), 0x1p-20, 1e-12);
}

using Operations = std::vector<TracedOperation>;

// A chain whose tensors are off by these units; without an input where `bare`.
Operations Chain(const std::vector<double>& units, bool bare = false) {
  Operations all;
  double before = 0;
  for (size_t i = 0; i < units.size(); ++i) {
    const double off = units[i] * 8 * 0x1p-7;
    all.push_back({.identity = {.step = 1,
                                .attempt = 0,
                                .phase = "forward",
                                .scope = "layers.0",
                                .operation = std::string(1, "abcdefgh"[i])},
                   .micro_batch = 0,
                   .inputs = {},
                   .outputs = {Tensor("y", "BF16", off)}});
    if (!bare) all.back().inputs = {Tensor("x", "BF16", before)};
    before = off;
  }
  return all;
}

ToleranceReport Compare(const Operations& a, const Operations& b) {
  ToleranceReport report = {.growth = kGrowth};
  CompareWithin(3, OperationList(a), OperationList(b), report);
  return report;
}

// Rounding differences from the first operation on; only where they jump is
// told, with or without inputs in the trace, and not what passes them on.
TEST(ToleranceTest, TellsWhereItGrowsAndNotWhereItFirstShows) {
  for (const bool bare : {false, true}) {
    const Operations exact = Chain({0, 0, 0, 0, 0, 0}, bare);
    const ToleranceReport close =
        Compare(exact, Chain({0.5, 2, 9, 20, 14, 30}, bare));
    EXPECT_FALSE(close.grows());
    EXPECT_EQ(close.compared, 6);
    const ToleranceReport grown =
        Compare(exact, Chain({0.5, 2, 3, 900, 700, 1500}, bare));
    ASSERT_EQ(grown.points.size(), 1u) << bare;
    EXPECT_EQ(grown.points[0].identity.operation, "d");
    EXPECT_EQ(grown.points[0].rank, 3);
    EXPECT_NEAR(grown.points[0].growth(), 300, 1e-6);
    const auto json = nlohmann::json::parse(ToleranceJson(grown));
    EXPECT_EQ(json["verdict"], "grows");
    EXPECT_EQ(json["worst"]["operation"], "d");
    EXPECT_NE(ToleranceText(grown).find("layers.0.d"), std::string::npos);
  }
}

// Sums in F32 of what was rounded to BF16 are as far apart as that.
TEST(ToleranceTest, TheCoarsestTypeOfEitherTraceIsTheUnit) {
  const Operations exact = Chain({0, 0}), coarse = Chain({0, 0});
  Operations fine = coarse;
  for (TracedOperation& operation : fine) operation.outputs[0].dtype = "F32";
  EXPECT_EQ(Compare(fine, fine).epsilon, 0x1p-23);
  EXPECT_EQ(Compare(fine, coarse).epsilon, 0x1p-7);
  EXPECT_EQ(Compare(exact, fine).epsilon, 0x1p-7);
}

TEST(ToleranceTest, WhatOnlyOneDidIsCounted) {
  const ToleranceReport report = Compare(Chain({0, 0, 0}), Chain({0, 0}));
  EXPECT_EQ(report.compared, 2);
  EXPECT_EQ(report.unmatched, 1);
}

}  // namespace
}  // namespace lockstep
