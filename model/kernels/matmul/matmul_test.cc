// N1 and N3: every level of the product gives the reference's bytes.

#include "model/kernels/matmul/matmul.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/matmul/matmul_case.h"
#include "model/kernels/matmul/matmul_kernel.h"
#include "model/kernels/matmul/matmul_reference.h"

namespace lockstep {
namespace {

using RangeFunction = void (*)(const MatmulArgs&, int64_t, int64_t);

struct Output {
  DType dtype;
  bool accumulate;
};
constexpr Output kOutputs[] = {{DType::kF32, false},
                               {DType::kF32, true},
                               {DType::kBF16, false},
                               {DType::kF16, false}};
constexpr DType kOperands[] = {DType::kF32, DType::kBF16, DType::kF16};

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
    if (!IsaPresent(GetParam())) {
      GTEST_SKIP() << NameOf(GetParam()) << " is not on this machine";
    }
    for (Isa level : MatmulInfo().levels) {
      if (level == GetParam()) return;
    }
    GTEST_SKIP() << "no variant at " << NameOf(GetParam());
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
    for (DType dtype : kOperands) {
      for (const Output& output : kOutputs) {
        for (int turn = 0; turn < kLayouts * kLayouts; ++turn) {
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
  EXPECT_GT(compared_, 100000);
}

TEST_P(MatmulTest, N3Regimes) {
  uint32_t seed = 1000;
  for (int regime = 0; regime < kRegimes; ++regime) {
    for (DType dtype : kOperands) {
      for (const Output& output : kOutputs) {
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
      for (const Output& output : kOutputs) {
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

// Past the rows whose sums fit the scratch (252), with k past one packing.
TEST_P(MatmulTest, N3SumsThatWaitInScratch) {
  Compare({.m = 260,
           .n = 250,
           .k = 1056,
           .dtype = DType::kBF16,
           .c_dtype = DType::kF32,
           .accumulate = true,
           .a_layout = Layout::kColumns},
          2500);
  EXPECT_GT(compared_, 260 * 250);
}

TEST_P(MatmulTest, N3Batches) {
  for (const Output& output : kOutputs) {
    for (DType dtype : kOperands) {
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

// N1: any cut of the items, and any tile that results, gives the same bytes.
TEST_P(MatmulTest, N1RangesOfItems) {
  const RangeFunction multiply =
      LS_KERNEL_VARIANTS(MatmulRange, "matmul", "").For(GetParam());
  for (const Shape& shape : {Shape{70, 33, 50}, Shape{20, 150, 50}}) {
    MatmulCase product({.m = shape.m,
                        .n = shape.n,
                        .k = shape.k,
                        .dtype = DType::kBF16,
                        .batch = 3},
                       4000);
    const std::vector<std::byte> want = product.Run(MatmulReference);
    const int64_t items = 3 * StripsOf(shape.m, shape.n).per_batch;
    for (int64_t step = 1; step <= items; ++step) {
      const auto got = product.Run([&](const MatmulArgs& args) {
        ScopedFloatEnv env;
        for (int64_t i = 0; i < items; i += step) {
          multiply(args, i, std::min(items, i + step));
        }
      });
      std::string report;
      EXPECT_EQ(product.CountDifferences(want, got, &report, &compared_), 0)
          << "step " << step << ", " << report;
    }
  }
  EXPECT_GT(compared_, 10000);
}

INSTANTIATE_TEST_SUITE_P(
    Levels, MatmulTest, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
    [](const auto& info) { return std::string(NameOf(info.param)); });

// The canary of N3: the comparison above can tell two orders apart.
TEST(MatmulOrderTest, N3OrdersDiffer) {
  MatmulCase product({.m = 32, .n = 32, .k = 256, .dtype = DType::kBF16}, 5000);
  const std::vector<std::byte> amx32 = product.Run(MatmulReference);
  const std::vector<std::byte> plain = product.Run(MatmulPlainChain);
  std::string report;
  int64_t compared = 0;
  const int64_t differences =
      product.CountDifferences(amx32, plain, &report, &compared);
  EXPECT_GT(differences, compared / 4);
}

// By hand: 2^24 + 1 is not a binary32 and rounds to 2^24, so it matters whether
// the two ones meet each other before they meet 2^24.
TEST(MatmulOrderTest, N3ByHand) {
  std::vector<float> a(64, 0.0f), ones(64, 1.0f);
  a[1] = 1.0f;
  a[2] = 1.0f;
  a[3] = 0x1p24f;
  a[33] = 2.0f;
  std::vector<BF16> a16, ones16;
  for (float x : a) a16.push_back(ToBF16(x));
  for (float x : ones) ones16.push_back(ToBF16(x));
  float c = -1;
  MatmulArgs args{.m = 1, .n = 1, .k = 64};
  args.c = &c;
  args.c_dtype = DType::kF32;
  args.c_row_stride = 1;
  Device device(1, BestIsa());

  args.a = {a.data(), DType::kF32, 64, 1};
  args.b = {ones.data(), DType::kF32, 1, 1};
  Matmul(device, args);
  EXPECT_EQ(c, 0x1p24f + 4.0f);  // ((1 + 1) + 2^24) + 2

  args.a = {a16.data(), DType::kBF16, 64, 1};
  args.b = {ones16.data(), DType::kBF16, 1, 1};
  Matmul(device, args);
  EXPECT_EQ(c, 0x1p24f + 2.0f);  // (1 + (1 + 2^24)) + 2
}

}  // namespace
}  // namespace lockstep
