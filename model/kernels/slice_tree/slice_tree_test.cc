#include "model/kernels/slice_tree/slice_tree.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 61;
constexpr int64_t kColumns = 77;
constexpr int64_t kRowStride = 80;
constexpr int64_t kStride = kRows * kRowStride + 7;

// Partials of one count: random ones, cancelling ones, signed zeros, and sums
// around the least normal number.
std::vector<float> Partials(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count * kStride + 1);
  for (float& value : values) {
    const uint32_t bits = random();
    const float unit = static_cast<float>(bits >> 8) * 0x1p-24f + 1.0f;
    const float sign = (bits & 1) != 0 ? -1.0f : 1.0f;
    const int kind = static_cast<int>(random() % 8);
    const int exponent = static_cast<int>(random() % 31) - 15;
    value = kind == 0   ? sign * 0.0f
            : kind == 1 ? sign * 0x1p-126f * unit
            : kind == 2 ? sign * 0x1p126f * unit
                        : sign * std::ldexp(unit, exponent);
  }
  return values;
}

// N4 word for word: neighbours are added, then neighbours of those.
float Tree(std::vector<float> level) {
  while (level.size() > 1) {
    std::vector<float> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      next.push_back(level[i] + level[i + 1]);
    }
    level = next;
  }
  return level[0];
}

TestMatrix Reference(const std::vector<float>& partials, int64_t count,
                     DType dtype) {
  const ScopedFloatEnv env;
  TestMatrix want(dtype, kRows, kColumns);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      std::vector<float> leaves;
      for (int64_t s = 0; s < count; ++s) {
        leaves.push_back(partials[1 + s * kStride + i * kRowStride + j]);
      }
      want.Set(i, j, Tree(leaves));
    }
  }
  return want;
}

CombineSliceTreeArgs ArgsOf(const std::vector<float>& partials, int64_t count,
                            TestMatrix& out) {
  return {.rows = kRows,
          .columns = kColumns,
          .count = count,
          .partials = partials.data() + 1,
          .partial_stride = kStride,
          .partial_row_stride = kRowStride,
          .out = out.data(),
          .out_dtype = out.dtype(),
          .out_row_stride = out.row_stride()};
}

TEST(SliceTreeTest, N4BalancedTreeRoundedOnceOnEveryDevice) {
  for (const int64_t count : {1, 2, 4, 8, 64}) {
    const std::vector<float> partials =
        Partials(count, static_cast<uint32_t>(count));
    for (const DType dtype : kStorageTypes) {
      const auto got = ExpectSameOnEveryDevice(
          {TestMatrix(dtype, kRows, kColumns)},
          [&](Device& device, std::vector<TestMatrix>& outputs) {
            CombineSliceTree(device, ArgsOf(partials, count, outputs[0]));
          });
      ExpectSameMatrix(Reference(partials, count, dtype), got[0],
                       std::to_string(count) + " partials");
    }
  }
}

// The canary: partials in a chain give other bits.
TEST(SliceTreeTest, N4AChainDiffers) {
  const std::vector<float> partials = Partials(4, 9);
  const TestMatrix tree = Reference(partials, 4, DType::kF32);
  int64_t differing = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      float chain = 0.0f;
      for (int64_t s = 0; s < 4; ++s) {
        chain += partials[1 + s * kStride + i * kRowStride + j];
      }
      differing += chain != static_cast<float>(tree.At(i, j)) ? 1 : 0;
    }
  }
  EXPECT_GT(differing, kRows * kColumns / 20);
}

// Subtrees first, then their sums: what ranks with several slices do.
TEST(SliceTreeTest, N4SubtreesJoinToTheWhole) {
  const std::vector<float> partials = Partials(8, 10);
  const TestMatrix want = Reference(partials, 8, DType::kBF16);
  Device device(2, BestIsa());
  for (const int64_t held : {1, 2, 4, 8}) {
    std::vector<float> sums(8 * kStride + 1);
    for (int64_t first = 0; first < 8; first += held) {
      CombineSliceTree(device,
                       {.rows = kRows,
                        .columns = kColumns,
                        .count = held,
                        .partials = partials.data() + 1 + first * kStride,
                        .partial_stride = kStride,
                        .partial_row_stride = kRowStride,
                        .out = sums.data() + 1 + first / held * kStride,
                        .out_dtype = DType::kF32,
                        .out_row_stride = kRowStride});
    }
    TestMatrix got(DType::kBF16, kRows, kColumns);
    CombineSliceTree(device, ArgsOf(sums, 8 / held, got));
    ExpectSameMatrix(want, got, std::to_string(held) + " slices a rank");
  }
}

TEST(SliceTreeTest, OverTheFirstPartial) {
  std::vector<float> partials = Partials(4, 11);
  const TestMatrix want = Reference(partials, 4, DType::kF32);
  Device device(2, BestIsa());
  CombineSliceTree(device, {.rows = kRows,
                            .columns = kColumns,
                            .count = 4,
                            .partials = partials.data() + 1,
                            .partial_stride = kStride,
                            .partial_row_stride = kRowStride,
                            .out = partials.data() + 1,
                            .out_dtype = DType::kF32,
                            .out_row_stride = kRowStride});
  int64_t differing = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const float got = partials[1 + i * kRowStride + j];
      differing += std::bit_cast<uint64_t>(static_cast<double>(got)) !=
                           std::bit_cast<uint64_t>(want.At(i, j))
                       ? 1
                       : 0;
    }
  }
  EXPECT_EQ(differing, 0) << "of " << kRows * kColumns;
}

}  // namespace
}  // namespace lockstep
