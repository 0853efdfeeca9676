// The test of two arms: scipy's numbers, what it says of known cases, and how
// often it is right on drawn ones.
#include "tools/compare/welch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "determinism/file_system.h"
#include "determinism/philox.h"

namespace lockstep {
namespace {

using Values = std::vector<double>;

WelchResult Compare(const Values& baseline, const Values& candidate,
                    double min_effect) {
  return WelchTest(StatisticsOf(baseline), StatisticsOf(candidate), min_effect);
}

// An arm of one run and the deviation that `seeds` other runs had.
ArmStatistics OneOf(double value, double sd, int64_t seeds) {
  return {.count = 1,
          .mean = value,
          .variance = sd * sd,
          .variance_dof = static_cast<double>(seeds - 1),
          .from_spread = true};
}

TEST(WelchTest, GoldenValues) {
  const auto text =
      PosixFileSystem()->ReadFile("tests/oracle/golden/statistics.json");
  ASSERT_TRUE(text.ok());
  const auto cases = nlohmann::json::parse(*text)["welch"];
  ASSERT_EQ(cases.size(), 5u);
  for (const auto& c : cases) {
    const WelchResult r = Compare(c["baseline"], c["candidate"], 0.003);
    const auto near = [&](double got, const char* name) {
      const double wanted = c[name];
      EXPECT_NEAR(got, wanted, 1e-10 * std::max(1.0, std::abs(wanted))) << c;
    };
    EXPECT_TRUE(r.tested);
    near(r.t, "t");
    near(r.dof, "dof");
    near(r.p, "p");
    near(r.low, "low");
    near(r.high, "high");
  }
}

// Four seeds an arm: z is 2.49, and so is the bar of the t distribution, all
// but 1 %. An improvement, and a borderline one.
TEST(WelchTest, FourSeedsAnArm) {
  const WelchResult r = Compare({2.412, 2.418, 2.409, 2.416},
                                {2.405, 2.411, 2.404, 2.409}, 0.003);
  EXPECT_EQ(r.verdict, CompareVerdict::kImproved);
  EXPECT_NEAR(r.delta, 0.0065, 1e-15);
  EXPECT_NEAR(r.t, 2.49, 0.005);
  EXPECT_NEAR(r.dof, 5.78, 0.005);
  EXPECT_NEAR(r.p, 0.0484, 5e-5);
  EXPECT_TRUE(r.borderline);
  EXPECT_EQ(r.seeds_needed, 0);
  EXPECT_GT(r.planned_seeds, 4);
  // The same numbers the other way round.
  const WelchResult back = Compare({2.405, 2.411, 2.404, 2.409},
                                   {2.412, 2.418, 2.409, 2.416}, 0.003);
  EXPECT_EQ(back.verdict, CompareVerdict::kRegressed);
  EXPECT_EQ(back.delta, -r.delta);
  EXPECT_EQ(back.p, r.p);
  // What the normal distribution lets pass and this one does not: dof 5.8 and
  // a z between 1.96 and 2.47.
  const WelchResult weak = Compare({2.412, 2.418, 2.409, 2.416},
                                   {2.406, 2.412, 2.405, 2.410}, 0.003);
  EXPECT_GT(weak.t, 2.0);
  EXPECT_EQ(weak.verdict, CompareVerdict::kInconclusive);
}

// One run each, 0.004 apart, where a proxy's seeds have a deviation of 0.003:
// noise. Three seeds each on the proxy, 0.005 apart with z above 3: adopted.
TEST(WelchTest, OneRunEachAndThenThree) {
  const WelchResult one =
      WelchTest(OneOf(2.404, 0.003, 5), OneOf(2.400, 0.003, 5), 0.003);
  EXPECT_EQ(one.verdict, CompareVerdict::kInconclusive);
  EXPECT_EQ(one.dof, 4);  // one estimate, used twice
  EXPECT_NEAR(one.t, 0.94, 0.005);
  EXPECT_GT(one.seeds_needed, 2);
  const WelchResult three =
      Compare({2.4100, 2.4115, 2.4125}, {2.4055, 2.4062, 2.4073}, 0.003);
  EXPECT_NEAR(three.delta, 0.005, 1e-12);
  EXPECT_GT(three.t, 3);
  EXPECT_EQ(three.verdict, CompareVerdict::kImproved);
}

TEST(WelchTest, EquivalentIsSaidAndNotMerelyNotDifferent) {
  const Values a = {2.4000, 2.4004, 2.4002, 2.3998};
  EXPECT_EQ(Compare(a, {2.4001, 2.4003, 2.3999, 2.4001}, 0.003).verdict,
            CompareVerdict::kEquivalent);
  // Significant and too small to matter is equivalent too.
  const WelchResult small = Compare(a, {2.3990, 2.3992, 2.3991, 2.3989}, 0.003);
  EXPECT_LT(small.p, 0.05);
  EXPECT_EQ(small.verdict, CompareVerdict::kEquivalent);
  // The same means with more noise: nobody knows.
  const WelchResult noisy =
      Compare({2.40, 2.44, 2.42, 2.38}, {2.41, 2.43, 2.39, 2.41}, 0.003);
  EXPECT_GT(noisy.p, 0.05);
  EXPECT_EQ(noisy.verdict, CompareVerdict::kInconclusive);
  EXPECT_GT(noisy.seeds_needed, 4);
}

TEST(WelchTest, WithoutNoiseThereIsNoVerdict) {
  EXPECT_FALSE(Compare({2.4}, {2.3}, 0.003).tested);
  EXPECT_FALSE(Compare({2.4, 2.41, 2.42}, {2.3}, 0.003).tested);
  const WelchResult equal = Compare({2.4, 2.4, 2.4}, {2.3, 2.3, 2.3}, 0.003);
  EXPECT_FALSE(equal.tested);
  EXPECT_EQ(equal.verdict, CompareVerdict::kInconclusive);
  EXPECT_FALSE(equal.seeds_needed.has_value());
  // One arm without spread is what it is.
  EXPECT_TRUE(Compare({2.4, 2.4, 2.4}, {2.3, 2.301, 2.302}, 0.003).tested);
}

// Squares of such variances are 0 or infinite.
TEST(WelchTest, HugeAndTinyValuesAreComparedAsTheirScaledOnesAre) {
  const Values a = {2, 3, 4}, b = {2.5, 3.25, 5};
  const WelchResult want = Compare(a, b, 0.5);
  for (const double scale : {0x1p300, 0x1p-300}) {
    Values big = a, other = b;
    for (double& value : big) value *= scale;
    for (double& value : other) value *= scale;
    const WelchResult got = Compare(big, other, 0.5 * scale);
    EXPECT_EQ(got.dof, want.dof);
    EXPECT_EQ(got.p, want.p);
    EXPECT_EQ(got.verdict, want.verdict);
  }
  EXPECT_FALSE(Compare({1e200, -1e200}, {1, 2}, 0.1).tested);
}

TEST(WelchTest, AnArmOfOneBesideAnArmOfMany) {
  const ArmStatistics many = StatisticsOf(Values{2.41, 2.42, 2.40, 2.43});
  const WelchResult r = WelchTest(many, OneOf(2.40, 0.01, 3), 0.01);
  EXPECT_TRUE(r.tested);
  EXPECT_LT(r.dof, 5);
  EXPECT_GT(r.dof, 2);
}

// Of drawn comparisons of arms `apart` apart: the share with this verdict.
double Share(int64_t seeds, double apart, double min_effect,
             CompareVerdict verdict, uint64_t stream) {
  constexpr int64_t kTrials = 1000;
  std::vector<float> draws(static_cast<size_t>(2 * seeds));
  int64_t hits = 0;
  for (int64_t trial = 0; trial < kTrials; ++trial) {
    FillRandomNormal(stream,
                     {.stream = Stream::kTest,
                      .layer = 0,
                      .item = static_cast<uint64_t>(trial),
                      .element = 0},
                     draws);
    Values a, b;
    for (int64_t i = 0; i < seeds; ++i) {
      a.push_back(2.4 + apart + 0.003 * draws[static_cast<size_t>(2 * i)]);
      b.push_back(2.4 + 0.003 * draws[static_cast<size_t>(2 * i + 1)]);
    }
    hits += Compare(a, b, min_effect).verdict == verdict ? 1 : 0;
  }
  return static_cast<double>(hits) / kTrials;
}

// What planned_seeds says of itself, by drawing: a binomial share of 1000 lies
// within four deviations (0.038 at 0.9, 0.051 at 0.8) of its probability.
TEST(WelchTest, ThePlannedNumberOfSeedsSettlesWhatItSays) {
  const auto planned =
      WelchTest(OneOf(2.4, 0.003, 50), OneOf(2.4, 0.003, 50), 0.004)
          .planned_seeds;
  ASSERT_TRUE(planned.has_value());
  EXPECT_GT(*planned, 8);
  EXPECT_LT(*planned, 16);
  const auto equivalent = CompareVerdict::kEquivalent;
  EXPECT_NEAR(Share(*planned, 0, 0.004, equivalent, 1), 0.8, 0.06);
  // Significant whenever the interval leaves zero, which the verdict shows
  // where every significant difference counts.
  EXPECT_NEAR(Share(*planned, 0.004, 0, CompareVerdict::kImproved, 2), 0.9,
              0.05);
  // And half of them is not enough.
  EXPECT_LT(Share(*planned / 2, 0, 0.004, equivalent, 3), 0.6);
}

// Equal arms of four: one false alarm in twenty, in both directions together.
TEST(WelchTest, FalseAlarmsAreAsRareAsPromised) {
  const double improved = Share(4, 0, 0, CompareVerdict::kImproved, 4);
  const double regressed = Share(4, 0, 0, CompareVerdict::kRegressed, 4);
  EXPECT_NEAR(improved + regressed, 0.05, 0.028);
  EXPECT_GT(improved, 0);
  EXPECT_GT(regressed, 0);
}

}  // namespace
}  // namespace lockstep
