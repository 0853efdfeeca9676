#include "model/kernels/grid_accumulate/grid_accumulate.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/grid.h"
#include "model/kernels/grid_reference.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kCount = 70003;
constexpr int64_t kLeaves = 3;
constexpr int64_t kLeafStride = kCount + 5;

// Magnitudes over the whole grid of `exponent`, from far below it to past its
// range, halves and near-halves among them; of any bits where `hostile`.
std::vector<float> Leaves(int exponent, bool hostile, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> leaves(kLeaves * kLeafStride);
  for (float& g : leaves) {
    const uint32_t bits = random();
    if (hostile && bits % 4 == 0) {
      g = std::bit_cast<float>(static_cast<uint32_t>(random()));
      continue;
    }
    const float sign = (bits & 1) != 0 ? -1.0f : 1.0f;
    // q up to 24 bits, in steps of a half, then moved.
    const float half_steps =
        static_cast<float>(random() >> (8 + random() % 24));
    const int move = bits % 3 == 0 ? static_cast<int>(random() % 60) - 10 : 0;
    g = sign * std::ldexp(half_steps * 0.5f, move - exponent);
  }
  return leaves;
}

struct Result {
  std::vector<int64_t> sum;
  GridStats stats;
};

std::vector<int64_t> Beginning() {
  std::vector<int64_t> sum(kCount);
  std::mt19937_64 random(1);
  for (int64_t& q : sum) q = static_cast<int64_t>(random());
  return sum;
}

Result Reference(const std::vector<float>& leaves, int exponent) {
  Result want{Beginning(), {}};
  for (int64_t l = 0; l < kLeaves; ++l) {
    for (int64_t i = 0; i < kCount; ++i) {
      const int64_t q =
          GridReference(leaves[l * kLeafStride + i], exponent, want.stats);
      want.sum[i] = static_cast<int64_t>(static_cast<uint64_t>(want.sum[i]) +
                                         static_cast<uint64_t>(q));
    }
  }
  return want;
}

Result Accumulate(Device& device, const std::vector<float>& leaves,
                  int exponent) {
  Result got{Beginning(), {}};
  GridAccumulate(device, {.n = kCount,
                          .leaves = kLeaves,
                          .leaf = leaves.data(),
                          .leaf_stride = kLeafStride,
                          .sum = got.sum.data(),
                          .exponent = exponent,
                          .stats = &got.stats});
  return got;
}

int64_t Differences(const Result& want, const Result& got) {
  int64_t differing = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    if (want.sum[i] == got.sum[i]) continue;
    if (differing++ == 0) {
      ADD_FAILURE() << "first at " << i << std::hex << ": want 0x"
                    << want.sum[i] << ", got 0x" << got.sum[i];
    }
  }
  return differing;
}

TEST(GridAccumulateTest, N5RoundsOnceAndCountsOnEveryDevice) {
  int64_t compared = 0;
  GridStats seen;
  for (const int exponent : {0, 20, 49, -60, 120, 175, -78, 300, -300}) {
    for (const bool hostile : {false, true}) {
      const auto leaves =
          Leaves(exponent, hostile, static_cast<uint32_t>(exponent + 1000));
      const Result want = Reference(leaves, exponent);
      seen.Merge(want.stats);
      for (const Isa isa : PresentIsas()) {
        for (const int threads : {1, 2, 3, 8}) {
          Device device(threads, isa);
          const Result got = Accumulate(device, leaves, exponent);
          EXPECT_EQ(Differences(want, got), 0)
              << NameOf(isa) << ", e = " << exponent;
          EXPECT_EQ(got.stats.max_abs, want.stats.max_abs);
          EXPECT_EQ(got.stats.below_grid, want.stats.below_grid);
          compared += kCount;
        }
      }
    }
  }
  EXPECT_GT(compared, 4000000);
  EXPECT_GT(seen.below_grid, 100000) << "the count was not put to the test";
  EXPECT_TRUE(seen.non_finite());
}

// N5: halves go to even, and what vanishes is counted.
TEST(GridAccumulateTest, N5ByHand) {
  const std::vector<float> g = {0.5f,   1.5f,   -2.5f, 0.25f,     -0.0f,
                                1e-40f, 0.501f, 3.0f,  0x1.8p50f, -0x1p61f};
  const std::vector<int64_t> want = {
      0, 2, -2, 0, 0, 0, 1, 3, int64_t{3} << 49, -(int64_t{1} << 61)};
  for (const Isa isa : PresentIsas()) {
    Device device(1, isa);
    std::vector<int64_t> sum(g.size());
    GridStats stats;
    GridAccumulate(device, {.n = static_cast<int64_t>(g.size()),
                            .leaf = g.data(),
                            .sum = sum.data(),
                            .stats = &stats});
    EXPECT_EQ(sum, want) << NameOf(isa);
    EXPECT_EQ(stats.below_grid, 2);
    EXPECT_EQ(stats.max_abs, 0x1p61f);
  }
}

TEST(GridAccumulateTest, N5WhatIsOutOfRangeAddsNothingAndShows) {
  const std::vector<float> g = {0x1p62f, -0x1p63f, std::nanf(""),
                                -kGridInfinity, 7.0f};
  for (const Isa isa : PresentIsas()) {
    Device device(1, isa);
    for (int64_t n = 1; n <= 5; ++n) {
      std::vector<int64_t> sum(5, 100);
      GridStats stats;
      GridAccumulate(
          device,
          {.n = n, .leaf = g.data(), .sum = sum.data(), .stats = &stats});
      EXPECT_EQ(sum[0], 100);
      EXPECT_EQ(sum[n - 1], n == 5 ? 107 : 100) << NameOf(isa) << " " << n;
      EXPECT_EQ(stats.non_finite(), n >= 3);
      EXPECT_TRUE(GridOverflows(stats.max_abs, 0, 1));
    }
  }
}

TEST(GridAccumulateTest, N5AProbeLooksAtTheMaximumOnly) {
  const auto leaves = Leaves(30, false, 7);
  const Result want = Reference(leaves, 30);
  for (const Isa isa : PresentIsas()) {
    Device device(2, isa);
    GridStats stats;
    GridAccumulate(device, {.n = kCount,
                            .leaves = kLeaves,
                            .leaf = leaves.data(),
                            .leaf_stride = kLeafStride,
                            .stats = &stats});
    EXPECT_EQ(stats.max_abs, want.stats.max_abs);
    EXPECT_EQ(stats.below_grid, 0);
  }
}

// N5: the exponent's formula, and that a step at its maximum has 12 bits left.
TEST(GridTest, N5Exponents) {
  EXPECT_EQ(GridExponent(1, 1.0f), 49);
  EXPECT_EQ(GridExponent(1, 1.5f), 48);
  EXPECT_EQ(GridExponent(5, 0.25f), 61 - 3 - 12 + 2);
  EXPECT_EQ(GridExponent(16, 0x1p-126f), 61 - 4 - 12 + 126);
  for (const int64_t leaves : {int64_t{1}, int64_t{3}, int64_t{4096}}) {
    for (const float max_abs : {1.0f, 0x1.fffffep-3f, 0x1.8p100f}) {
      const int e = GridExponent(leaves, max_abs);
      EXPECT_FALSE(GridOverflows(max_abs * 0x1p12f, e, leaves));
      EXPECT_TRUE(GridOverflows(max_abs * 0x1p15f, e, leaves));
    }
  }
  // 2^62 / 3 is no number of binary32: its neighbours decide.
  const float third = 0x1.555556p60f;
  EXPECT_TRUE(GridOverflows(third, 0, 3));
  EXPECT_FALSE(GridOverflows(std::nextafterf(third, 0.0f), 0, 3));
  EXPECT_TRUE(GridOverflows(kGridInfinity, -100, 1));
  EXPECT_FALSE(GridOverflows(0.0f, 300, 1));
}

}  // namespace
}  // namespace lockstep
