// N7: ordered sums have one written tree.

#include "determinism/ordered_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math_array.h"
#include "determinism/philox.h"
#include "determinism/same_bits.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

std::vector<float> Normals(uint64_t item, int64_t n) {
  std::vector<float> values(n);
  FillRandomNormal(2, {Stream::kTest, 1, item, 0}, values);
  return values;
}

// The contract's words, written without any cleverness.
float TreeByTheBook(const std::vector<float>& x, const std::vector<float>* y) {
  float lanes[64] = {};
  for (size_t i = 0; i < x.size(); ++i) {
    float& lane = lanes[i % 64];
    lane = y == nullptr ? lane + x[i] : std::fma(x[i], (*y)[i], lane);
  }
  for (int step = 32; step > 0; step /= 2) {
    for (int l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  return lanes[0];
}

TEST(OrderedSumTest, N7TheWrittenTreeAtEveryLevel) {
  const ScopedFloatEnv env;
  std::vector<float> got;
  std::vector<float> want;
  for (const int64_t n : {0, 1, 2, 63, 64, 65, 127, 128, 1000, 4097}) {
    const std::vector<float> x = Normals(1, n);
    const std::vector<float> y = Normals(2, n);
    for (const ArrayLevel& level : ArrayLevelsHere()) {
      got.push_back(level.functions.ordered_sum(x.data(), n));
      want.push_back(TreeByTheBook(x, nullptr));
      got.push_back(level.functions.ordered_dot(x.data(), y.data(), n));
      want.push_back(TreeByTheBook(x, &y));
      got.push_back(OrderedSumOfSquares(x.data(), n));
      want.push_back(TreeByTheBook(x, &x));
    }
  }
  EXPECT_TRUE(SameBits<float>(got, want));
}

// If another order gave the same bits, the test above would show nothing.
TEST(OrderedSumTest, N7AnotherOrderDiffers) {
  const ScopedFloatEnv env;
  int different = 0;
  for (uint64_t trial = 0; trial < 20; ++trial) {
    const std::vector<float> x = Normals(10 + trial, 4096);
    float chain = 0.0f;
    for (const float value : x) chain += value;
    different += chain != OrderedSum(x.data(), 4096);
  }
  EXPECT_GT(different, 10);
}

TEST(OrderedSumTest, N7MaximumKeepsNanAndFirstZero) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const ArrayLevel& level : ArrayLevelsHere()) {
    const auto max = level.functions.ordered_max;
    for (const int64_t n : {1, 63, 64, 65, 300}) {
      for (int64_t at = 0; at < n; at += 7) {
        std::vector<float> x(n, -2.0f);
        EXPECT_EQ(max(x.data(), n), -2.0f);
        x[at] = 3.0f;
        EXPECT_EQ(max(x.data(), n), 3.0f);
        x[at] = nan;
        x[n - 1 - at] = nan;
        EXPECT_TRUE(std::isnan(max(x.data(), n)));
      }
    }
    EXPECT_EQ(max(nullptr, 0), -infinity);
    const float zeros[] = {-0.0f, 0.0f};
    EXPECT_TRUE(std::signbit(max(zeros, 2)));
  }
}

TEST(OrderedSumTest, N7ColumnsInBlocksOf32Rows) {
  const ScopedFloatEnv env;
  for (const int64_t rows : {0, 1, 31, 32, 33, 100}) {
    for (const int64_t cols : {1, 63, 64, 200}) {
      const int64_t stride = cols + 3;
      const std::vector<float> x = Normals(4, (rows + 1) * stride);
      std::vector<float> want(cols, 0.0f);
      for (int64_t c = 0; c < cols; ++c) {
        for (int64_t row = 0; row < rows; row += 32) {
          float block = 0.0f;
          for (int64_t r = row; r < std::min(row + 32, rows); ++r) {
            block += x[r * stride + c];
          }
          want[c] += block;
        }
      }
      for (const ArrayLevel& level : ArrayLevelsHere()) {
        std::vector<float> got(cols, -1.0f);
        level.functions.ordered_column_sum(x.data(), rows, cols, stride,
                                           got.data());
        EXPECT_TRUE(SameBits<float>(got, want)) << level.name;
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
