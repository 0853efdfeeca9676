#include "tools/explanation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

SampleExplanation Sample(uint64_t index, int64_t source, double loss,
                         std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6}) {
  SampleExplanation sample;
  sample.at.global_index = index;
  sample.at.source = source;
  sample.loss = loss;
  sample.labels = 10;
  sample.repetition = MeasureRepetition(tokens);
  sample.documents = {{.document = 7, .labels = 10, .loss = loss}};
  return sample;
}

std::vector<uint64_t> Order(const std::vector<SampleExplanation>& samples) {
  std::vector<uint64_t> order;
  for (const SampleExplanation& s : samples) order.push_back(s.at.global_index);
  return order;
}

TEST(ExplanationTest, MedianOfTheFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Median({})));
  EXPECT_TRUE(std::isnan(Median({nan})));
  EXPECT_EQ(Median({3, 1, nan, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
}

// Losses of 2.0 in prose and 0.5 in programs: 1.5 is much for a program, and
// little for prose, though the pooled median says otherwise.
TEST(ExplanationTest, ASampleIsHeldAgainstItsOwnSource) {
  std::vector<ReferenceSample> before;
  for (int i = 0; i < 10; ++i) {
    before.push_back({0, 2.0 + 0.01 * i, 0});
    before.push_back({1, 0.5 + 0.01 * i, 0});
  }
  std::vector<SampleExplanation> samples = {Sample(1, 0, 2.05),
                                            Sample(2, 1, 1.5)};
  RankSamples(before, samples);
  EXPECT_EQ(Order(samples), (std::vector<uint64_t>{2, 1}));
  // Median 0.545, MAD 0.025, times 1.4826.
  EXPECT_NEAR(samples[0].loss_z, (1.5 - 0.545) / (1.4826 * 0.025), 1e-9);
  EXPECT_NEAR(samples[1].loss_z, 0.005 / (1.4826 * 0.025), 1e-9);
  EXPECT_GT(samples[0].excess_share, 0.99);
}

TEST(ExplanationTest, FewOfASourceAreHeldAgainstAll) {
  std::vector<ReferenceSample> before(10, {0, 1.0, 0});
  std::vector<SampleExplanation> samples = {Sample(1, 1, 1.0),
                                            Sample(2, 1, 9.0)};
  RankSamples(before, samples);
  EXPECT_EQ(Order(samples), (std::vector<uint64_t>{2, 1}));
  EXPECT_NEAR(samples[0].loss_z, 8 / 0.02, 1e-9);  // the floor
  EXPECT_EQ(samples[1].loss_z, 0);
}

TEST(ExplanationTest, RepetitionCountsAndIsCapped) {
  std::vector<ReferenceSample> before(10, {0, 1.0, 0});
  std::vector<SampleExplanation> samples = {
      Sample(1, 0, 1.0), Sample(2, 0, 1.0, std::vector<int32_t>(40, 9)),
      Sample(3, 0, 1.5)};
  RankSamples(before, samples);
  EXPECT_EQ(Order(samples), (std::vector<uint64_t>{3, 2, 1}));
  EXPECT_GT(samples[1].repetition_z, 40);
  EXPECT_EQ(samples[1].suspicion, 10);
}

TEST(ExplanationTest, WhatIsNotFiniteComesFirstAndHidesNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<ReferenceSample> before(10, {0, 1.0, 0});
  before.push_back({0, nan, 0});
  std::vector<SampleExplanation> samples = {Sample(1, 0, 5.0),
                                            Sample(2, 0, nan)};
  RankSamples(before, samples);
  EXPECT_EQ(Order(samples), (std::vector<uint64_t>{2, 1}));
  EXPECT_NEAR(samples[1].loss_z, 4 / 0.02, 1e-9);
  EXPECT_EQ(samples[1].excess_share, 1);
}

TEST(ExplanationTest, NothingToCompareWith) {
  std::vector<SampleExplanation> one = {Sample(1, 0, 5.0)};
  RankSamples({}, one);
  EXPECT_EQ(one[0].suspicion, 0);
  EXPECT_EQ(one[0].excess_share, 0);
  std::vector<SampleExplanation> none;
  RankSamples({}, none);
  EXPECT_TRUE(none.empty());
}

TEST(ExplanationTest, TheDocumentWithTheExcessIsNamed) {
  std::vector<ReferenceSample> before(10, {0, 1.0, 0});
  std::vector<SampleExplanation> samples = {Sample(1, 0, 3.0)};
  samples[0].documents = {
      {.document = 4, .labels = 6, .loss = 1.1, .longest_run = 6},
      {.document = 5, .labels = 3, .loss = 7.0},
      {.document = 6, .labels = 1, .loss = 8.0}};
  RankSamples(before, samples);
  EXPECT_EQ(samples[0].suspect_part, 1u);
}

}  // namespace
}  // namespace lockstep
