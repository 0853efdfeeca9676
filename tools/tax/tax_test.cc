#include "tools/tax/tax.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "determinism/clock.h"
#include "determinism/status.h"
#include "tools/tax/tax_meter.h"

namespace lockstep {
namespace {

TEST(TaxTest, MedianAndIntervalAreOfThePairs) {
  const std::vector<double> fast = {1, 2, 4, 1, 2, 4, 1};
  const std::vector<double> slow = {1.125, 2.5, 4, 1.5, 2.25, 5, 1.125};
  const TaxInterval tax = TaxOf(slow, fast);
  EXPECT_DOUBLE_EQ(tax.tax, 0.125);
  EXPECT_DOUBLE_EQ(tax.low, 0.0);
  EXPECT_DOUBLE_EQ(tax.high, 0.5);
  const std::vector<double> none(7, 0.0), step(7, 10.0);
  EXPECT_DOUBLE_EQ(TaxOfStep(slow, none, step).tax, 0.225);
}

// The published table of the sign test's intervals (95 %), from 1.
TEST(TaxTest, IntervalsAreThoseOfTheSignTest) {
  for (const auto& [n, place] : {std::pair{5, 1},
                                 {6, 1},
                                 {8, 1},
                                 {9, 2},
                                 {12, 3},
                                 {20, 6},
                                 {31, 10},
                                 {50, 18}}) {
    EXPECT_EQ(IntervalPlace(n) + 1, place) << n;
  }
}

TEST(TaxTest, EveryMomentOfAStepIsInOnePlace) {
  ManualClock clock;
  TaxMeter meter(clock);
  meter.Begin();
  const auto operation = [&](Phase phase, int64_t ms) {
    clock.AdvanceMillis(ms);
    meter.OnOperation({.phase = phase});
  };
  const auto ended = [&](StepPart part, int64_t ms) {
    clock.AdvanceMillis(ms);
    meter.Ended(part);
  };
  ended(StepPart::kSamples, 1);
  operation(Phase::kForward, 2);
  operation(Phase::kRecompute, 4);
  operation(Phase::kBackward, 8);
  ended(StepPart::kGradients, 16);
  operation(Phase::kReduction, 32);
  ended(StepPart::kReduction, 64);
  ended(StepPart::kChecks, 128);
  ended(StepPart::kFingerprints, 256);
  operation(Phase::kOptimizer, 512);
  ended(StepPart::kUpdate, 1024);
  ended(StepPart::kFingerprints, 2048);
  constexpr int64_t kMs = 1'000'000;
  EXPECT_EQ(meter.End(), (TaxTimes{2 * kMs, 12 * kMs, 112 * kMs, 1536 * kMs,
                                   2304 * kMs, 4095 * kMs}));
}

TaxOptions Small(int64_t ranks) {
  return {.recipe = "recipes/debug.toml",
          .sets = {"data.sequence=32", "batch.global=4"},
          .ranks = ranks,
          .threads = 1,
          .rounds = 3};
}

TEST(TaxTest, ARecipeIsMeasuredByPart) {
  for (const int64_t ranks : {1, 2}) {
    const auto report = MeasureTax(Small(ranks));
    ASSERT_TRUE(report.ok()) << report.status().message();
    const auto json = nlohmann::json::parse(TaxJson(*report));
    EXPECT_EQ(json["ranks"], ranks);
    EXPECT_EQ(json["pairs"], 3);
    EXPECT_EQ(json["peak_bytes"].size(), 3u);
    std::set<std::string> names;
    double shares = 0;
    for (const auto& part : json["parts"]) {
      names.insert(part["name"]);
      for (const std::string rung : {"bitwise", "layout_invariant"}) {
        EXPECT_LE(part[rung + "_low"], part[rung]) << part.dump();
        EXPECT_GE(part[rung + "_high"], part[rung]) << part.dump();
        EXPECT_GT(part[rung], -1.0) << part.dump();
      }
      if (part["name"] != "step") shares += part["share"].get<double>();
      // The fastest configuration has no fingerprints, the others do.
      if (part["name"] == "fingerprints") {
        EXPECT_GT(part["bitwise"], 0.0);
        EXPECT_LT(part["share"], 0.5);
      }
    }
    EXPECT_EQ(names,
              (std::set<std::string>{"forward", "backward", "reduction",
                                     "optimizer", "fingerprints", "step"}));
    EXPECT_GT(shares, 0.1);
    EXPECT_NE(TaxTable(*report).find("layout_invariant"), std::string::npos);
  }
}

TEST(TaxTest, WhatCannotBeIsRefused) {
  TaxOptions options = Small(3);
  options.sets.push_back("parallel.tensor=2");
  EXPECT_EQ(ExitCodeFor(MeasureTax(options).status()), 2);
  options.recipe = "recipes/no_such.toml";
  EXPECT_EQ(ExitCodeFor(MeasureTax(options).status()), 2);
}

}  // namespace
}  // namespace lockstep
