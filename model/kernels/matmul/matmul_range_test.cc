// N1, N13: what the levels' functions give for parts of a product.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_case.h"
#include "model/kernels/matmul/matmul_kernel.h"
#include "model/kernels/matmul/matmul_reference.h"
#include "model/kernels/tile_trap.h"

namespace lockstep {
namespace {

using RangeFunction = void (*)(const MatmulArgs&, int64_t, int64_t);

class MatmulRangeTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!IsaPresent(GetParam()) &&
        !(GetParam() == Isa::kAmx && EmulateTiles())) {
      GTEST_SKIP() << NameOf(GetParam()) << " is not on this machine";
    }
  }
};

// N1: any cut of the items, and any tile that results, gives the same bytes.
TEST_P(MatmulRangeTest, N1RangesOfItems) {
  int64_t compared = 0;
  const RangeFunction multiply = MatmulVariants().For(GetParam());
  for (const auto& [m, n] : {std::pair{70, 33}, std::pair{20, 150}}) {
    MatmulCase product(
        {.m = m, .n = n, .k = 50, .dtype = DType::kBF16, .batch = 3}, 4000);
    const std::vector<std::byte> want = product.Run(MatmulReference);
    const int64_t items = 3 * StripsOf(m, n).per_batch;
    for (int64_t step = 1; step <= items; ++step) {
      const auto got = product.Run([&](const MatmulArgs& args) {
        ScopedFloatEnv env;
        for (int64_t i = 0; i < items; i += step) {
          multiply(args, i, std::min(items, i + step));
        }
      });
      std::string report;
      EXPECT_EQ(product.CountDifferences(want, got, &report, &compared), 0)
          << "step " << step << ", " << report;
    }
  }
  EXPECT_GT(compared, 10000);
}

// The operands from position k_begin on: a product of its own.
MatmulArgs FromTo(MatmulArgs args, int64_t k_begin, int64_t k_end) {
  const int64_t size = static_cast<int64_t>(SizeOf(args.a.dtype));
  args.k = k_end - k_begin;
  args.a.data = static_cast<const std::byte*>(args.a.data) +
                k_begin * args.a.col_stride * size;
  args.b.data = static_cast<const std::byte*>(args.b.data) +
                k_begin * args.b.row_stride * size;
  return args;
}

// N13: a part of the contraction is the product over those positions alone.
TEST_P(MatmulRangeTest, N13PartsOfTheContraction) {
  int64_t compared = 0;
  auto parts = LS_KERNEL_VARIANTS(MatmulPart, "matmul", "");
  parts.by_isa[static_cast<int>(Isa::kAmx)] = &amx::MatmulPart;
  const RangeFunction multiply = parts.For(GetParam());
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    MatmulCase product({.m = 20, .n = 40, .k = 150, .dtype = dtype}, 4500);
    for (int64_t begin : {0, 32, 96}) {
      for (int64_t end : {96, 128, 150}) {
        const auto want = product.Run([&](const MatmulArgs& args) {
          MatmulReference(FromTo(args, begin, end));
        });
        const auto got = product.Run([&](const MatmulArgs& args) {
          ScopedFloatEnv env;
          multiply(args, begin, end);
        });
        std::string report;
        EXPECT_EQ(product.CountDifferences(want, got, &report, &compared), 0)
            << begin << " to " << end << ", " << report;
      }
    }
  }
  EXPECT_GT(compared, 20000);
}

INSTANTIATE_TEST_SUITE_P(Levels, MatmulRangeTest,
                         testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512,
                                         Isa::kAmx),
                         [](const auto& info) {
                           return std::string(NameOf(info.param));
                         });

}  // namespace
}  // namespace lockstep
