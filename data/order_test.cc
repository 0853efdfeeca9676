#include "data/order.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 0x0123456789abcdef;

std::vector<uint64_t> Epoch(uint64_t seed, uint64_t source, uint64_t count,
                            uint64_t epoch) {
  std::vector<uint64_t> order;
  for (uint64_t i = 0; i < count; ++i) {
    order.push_back(SampleAt(seed, source, count, epoch * count + i));
  }
  return order;
}

bool IsPermutation(const std::vector<uint64_t>& order) {
  std::vector<int> seen(order.size(), 0);
  for (const uint64_t sample : order) {
    if (sample >= order.size() || seen[sample]++ != 0) {
      return false;
    }
  }
  return true;
}

TEST(OrderTest, EachEpochVisitsEverySampleOnce) {
  int64_t checked = 0;
  for (const uint64_t count :
       {1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 65, 97, 256, 1000, 1024, 4096, 4097}) {
    for (const uint64_t epoch : {0, 1, 2, 1000000}) {
      for (const uint64_t seed : {uint64_t{0}, kSeed}) {
        EXPECT_TRUE(IsPermutation(Epoch(seed, 0, count, epoch)))
            << count << " samples, epoch " << epoch;
        ++checked;
      }
    }
  }
  EXPECT_EQ(checked, 17 * 4 * 2);
}

TEST(OrderTest, EpochsSeedsAndSourcesHaveOrdersOfTheirOwn) {
  std::set<std::vector<uint64_t>> orders;
  for (uint64_t i = 0; i < 8; ++i) {
    orders.insert(Epoch(kSeed, 0, 1000, i));
    orders.insert(Epoch(kSeed + 1 + i, 0, 1000, 0));
    orders.insert(Epoch(kSeed, 1 + i, 1000, 0));
  }
  EXPECT_EQ(orders.size(), 24u);
}

// Pinned, from an independent model in Python: another order is another
// trajectory of every run.
TEST(OrderTest, OrderIsPinned) {
  EXPECT_EQ(Epoch(1234, 0, 10, 0),
            (std::vector<uint64_t>{6, 0, 4, 1, 7, 9, 3, 2, 8, 5}));
  const std::vector<uint64_t> odd_width = Epoch(1234, 0, 97, 1);
  EXPECT_EQ(std::vector<uint64_t>(odd_width.begin(), odd_width.begin() + 6),
            (std::vector<uint64_t>{27, 5, 86, 29, 41, 63}));
  EXPECT_EQ(SampleAt(1234, 3, 1000000000000, 5000000000123), 426982938128u);
}

// Cells: position of the epoch x sample, over many seeds. Each must be hit as
// often as any other; the statistic's mean is dof and its deviation
// sqrt(2 dof), and a bound of five deviations is met by any fair order.
double ChiSquare(uint64_t count, uint64_t trials) {
  std::vector<double> hits(count * count, 0);
  for (uint64_t seed = 0; seed < trials; ++seed) {
    for (uint64_t i = 0; i < count; ++i) {
      hits[i * count + SampleAt(seed, 0, count, i)] += 1;
    }
  }
  const double expected = static_cast<double>(trials) / count;
  double sum = 0;
  for (const double hit : hits) {
    sum += (hit - expected) * (hit - expected) / expected;
  }
  return sum;
}

TEST(OrderTest, SamplesAreUniformOverPositions) {
  for (const uint64_t count : {2, 3, 4, 5, 8, 13, 16, 33, 65, 100, 129}) {
    const double dof = static_cast<double>((count - 1) * (count - 1));
    EXPECT_LT(std::abs(ChiSquare(count, 6000) - dof),
              5 * std::sqrt(2 * dof) + 5)
        << count;
  }
}

// Neighbours of an epoch must not be neighbours in the file: the mean distance
// of two random samples is n/3 with a deviation of n / sqrt(18).
TEST(OrderTest, NeighboursAreIndependent) {
  for (const uint64_t count : {uint64_t{1000003}, uint64_t{1953124999}}) {
    constexpr int kPairs = 20000;
    double sum = 0;
    for (uint64_t i = 0; i < kPairs; ++i) {
      const double a = static_cast<double>(SampleAt(kSeed, 0, count, i));
      const double b = static_cast<double>(SampleAt(kSeed, 0, count, i + 1));
      sum += std::abs(a - b) / static_cast<double>(count);
    }
    EXPECT_NEAR(sum / kPairs, 1.0 / 3, 5 / std::sqrt(18.0 * kPairs));
  }
}

TEST(OrderTest, LargeCountsStayInRangeAndApart) {
  for (const uint64_t count : {uint64_t{1000000000000}, (uint64_t{1} << 40) + 1,
                               uint64_t{1} << 62, (uint64_t{1} << 61) + 3}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < 2000; ++i) {
      const uint64_t sample = SampleAt(kSeed, 0, count, i);
      EXPECT_LT(sample, count);
      seen.insert(sample);
    }
    EXPECT_EQ(seen.size(), 2000u);
  }
}

// Speed is printed, not judged: other work shares the machine.
TEST(OrderTest, Rate) {
  for (const uint64_t count :
       {uint64_t{1000000000000}, uint64_t{1} << 40, (uint64_t{1} << 40) + 1}) {
    constexpr uint64_t kCalls = 200000;
    uint64_t sum = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < kCalls; ++i) {
      sum += SampleAt(kSeed, 0, count, i);
    }
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - begin;
    EXPECT_NE(sum, 0u);
    printf("%llu samples: %.2f million indices a second\n",
           static_cast<unsigned long long>(count),
           kCalls / seconds.count() / 1e6);
  }
}

TEST(OrderDeathTest, CountsOutsideTheContractAreBugs) {
  EXPECT_DEATH(SampleAt(0, 0, 0, 0), "LS_CHECK");
  EXPECT_DEATH(SampleAt(0, 0, (uint64_t{1} << 62) + 1, 0), "LS_CHECK");
  EXPECT_DEATH(SampleAt(0, uint64_t{1} << 16, 10, 0), "LS_CHECK");
}

}  // namespace
}  // namespace lockstep
