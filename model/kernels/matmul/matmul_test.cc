// N1 and N3: every level of the product gives the reference's bytes.

#include "model/kernels/matmul/matmul.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/matmul/matmul_case.h"
#include "model/kernels/matmul/matmul_reference.h"
#include "model/kernels/tile_trap.h"

namespace lockstep {
namespace {

struct Shape {
  int64_t m, n, k;
};
// Around tile (14 x 32, 6 x 16), vector (16) and block (32) edges.
constexpr Shape kSmallShapes[] = {
    {1, 1, 1},    {1, 17, 33},  {2, 16, 32},  {3, 5, 7},    {13, 31, 31},
    {14, 32, 64}, {15, 33, 65}, {29, 48, 16}, {6, 47, 100}, {7, 130, 2},
    {33, 1, 63},  {27, 64, 34}, {16, 15, 96}, {43, 18, 1},  {5, 9, 0}};
// Past what one packing holds: of k (256, 1024) and columns (512, 128).
constexpr Shape kLargeShapes[] = {
    {5, 530, 300}, {20, 140, 1030}, {31, 1050, 129}, {17, 34, 2070}};

class MatmulTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!IsaPresent(GetParam()) &&
        !(GetParam() == Isa::kAmx && EmulateTiles())) {
      GTEST_SKIP() << NameOf(GetParam()) << " is not on this machine";
    }
    const std::vector<Isa> levels = MatmulInfo().levels;
    ASSERT_NE(std::find(levels.begin(), levels.end(), GetParam()),
              levels.end());
  }

  void Compare(const MatmulSpec& spec, uint32_t seed) {
    MatmulCase product(spec, seed);
    const std::vector<std::byte> want = product.Run(MatmulReference);
    Device device(1, GetParam());
    const std::vector<std::byte> got =
        product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
    std::string report;
    const int64_t differences =
        product.CountDifferences(want, got, &report, &compared_);
    EXPECT_EQ(differences, 0) << report;
    EXPECT_EQ(device.flops(), 2 * spec.batch * spec.m * spec.n * spec.k);
  }

  int64_t compared_ = 0;
};

// Layouts and regimes take turns, so that each shape meets all of them over
// the operand and output types.
TEST_P(MatmulTest, N3SmallShapes) {
  uint32_t seed = 0;
  for (const Shape& shape : kSmallShapes) {
    for (DType dtype : kMatmulOperands) {
      for (const MatmulOutput& output : kMatmulOutputs) {
        for (int repeat = 0; repeat < 3; ++repeat) {
          const int turn = static_cast<int>(seed % (kLayouts * kLayouts));
          Compare({.m = shape.m,
                   .n = shape.n,
                   .k = shape.k,
                   .dtype = dtype,
                   .c_dtype = output.dtype,
                   .accumulate = output.accumulate,
                   .a_layout = static_cast<Layout>(turn / kLayouts),
                   .b_layout = static_cast<Layout>(turn % kLayouts),
                   .regime = static_cast<Regime>(seed % kRegimes)},
                  seed);
          ++seed;
        }
      }
    }
  }
  EXPECT_GT(compared_, 200000);
}

TEST_P(MatmulTest, N3Regimes) {
  uint32_t seed = 1000;
  for (int regime = 0; regime < kRegimes; ++regime) {
    for (DType dtype : kMatmulOperands) {
      for (const MatmulOutput& output : kMatmulOutputs) {
        Compare({.m = 19,
                 .n = 37,
                 .k = 101,
                 .dtype = dtype,
                 .c_dtype = output.dtype,
                 .accumulate = output.accumulate,
                 .regime = static_cast<Regime>(regime)},
                ++seed);
      }
    }
  }
  EXPECT_GT(compared_, 50000);
}

TEST_P(MatmulTest, N3LargeShapes) {
  uint32_t seed = 2000;
  for (const Shape& shape : kLargeShapes) {
    for (DType dtype : {DType::kF32, DType::kBF16}) {
      for (const MatmulOutput& output : kMatmulOutputs) {
        if (output.dtype == DType::kF16) continue;  // as BF16
        ++seed;
        Compare({.m = shape.m,
                 .n = shape.n,
                 .k = shape.k,
                 .dtype = dtype,
                 .c_dtype = output.dtype,
                 .accumulate = output.accumulate,
                 .a_layout = static_cast<Layout>(seed % 2),
                 .b_layout = static_cast<Layout>(seed / 2 % 2),
                 .regime = Regime::kCancelling},
                seed);
      }
    }
  }
  EXPECT_GT(compared_, 100000);
}

// N1: past the rows whose sums fit the scratch (252), with k past one packing.
// Truth is the product of fewer rows at a time, which other cases check.
TEST_P(MatmulTest, N1RowsPastTheScratch) {
  MatmulCase product({.m = 260,
                      .n = 250,
                      .k = 1056,
                      .dtype = DType::kBF16,
                      .accumulate = true,
                      .a_layout = Layout::kColumns},
                     2500);
  Device device(1, GetParam());
  const auto want = product.Run([&](MatmulArgs args) {
    const int64_t split = 130;
    args.m = split;
    Matmul(device, args);
    args.m = 260 - split;
    args.a.data = static_cast<const BF16*>(args.a.data) + split;
    args.c = static_cast<float*>(args.c) + split * args.c_row_stride;
    Matmul(device, args);
  });
  const auto got =
      product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
  std::string report;
  EXPECT_EQ(product.CountDifferences(want, got, &report, &compared_), 0)
      << report;
  EXPECT_GT(compared_, 260 * 250);
}

TEST_P(MatmulTest, N3Batches) {
  for (const MatmulOutput& output : kMatmulOutputs) {
    for (DType dtype : kMatmulOperands) {
      Compare({.m = 9,
               .n = 35,
               .k = 40,
               .dtype = dtype,
               .c_dtype = output.dtype,
               .accumulate = output.accumulate,
               .b_layout = Layout::kColumns,
               .batch = 5},
              3000);
    }
  }
  EXPECT_GT(compared_, 10000);
}

INSTANTIATE_TEST_SUITE_P(Levels, MatmulTest,
                         testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512,
                                         Isa::kAmx),
                         [](const auto& info) {
                           return std::string(NameOf(info.param));
                         });

}  // namespace
}  // namespace lockstep
