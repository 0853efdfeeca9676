// N5: products added to the integer grid.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/grid.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_case.h"
#include "model/kernels/matmul/matmul_reference.h"

namespace lockstep {
namespace {

std::vector<std::vector<KSegment>> LeavesOf(int64_t count, int64_t tokens) {
  std::vector<std::vector<KSegment>> leaves;
  for (int64_t i = 0; i < count; ++i) {
    leaves.push_back({{i * tokens, (i + 1) * tokens}});
  }
  return leaves;
}

MatmulSpec Spec(int64_t m, int64_t n, int64_t leaves, int64_t tokens) {
  return {.m = m,
          .n = n,
          .k = leaves * tokens,
          .dtype = DType::kBF16,
          .c_dtype = DType::kI64,
          .a_layout = Layout::kColumns,
          .slices = LeavesOf(leaves, tokens),
          .slice_use = SliceUse::kLeaves};
}

class MatmulGridTest : public testing::Test {
 protected:
  void Compare(const MatmulSpec& spec, uint32_t seed, Isa isa, int threads) {
    MatmulCase product(spec, seed);
    const std::vector<std::byte> want = product.Run(MatmulReference);
    const GridStats want_stats = product.stats();
    Device device(threads, isa);
    const auto got =
        product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
    std::string report;
    EXPECT_EQ(product.CountDifferences(want, got, &report, &compared_), 0)
        << NameOf(isa) << ", " << threads << " threads, " << report;
    EXPECT_EQ(product.stats().max_abs, want_stats.max_abs) << spec.Text();
    EXPECT_EQ(product.stats().below_grid, want_stats.below_grid) << spec.Text();
    seen_.Merge(want_stats);
  }

  int64_t compared_ = 0;
  GridStats seen_;
};

TEST_F(MatmulGridTest, N5EveryTypeRegimeAndLevel) {
  uint32_t seed = 0;
  for (const Isa isa : PresentIsas()) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      for (int regime = 0; regime < kRegimes; ++regime) {
        // Coarse, usual, past the range for some; and what subnormals need.
        for (const int exponent : {4, 45, 60, 170}) {
          ++seed;
          MatmulSpec spec =
              Spec(13 + seed % 5, 17 + seed % 31, 1 + seed % 3, 70);
          spec.dtype = dtype;
          spec.a_layout = static_cast<Layout>(seed % kLayouts);
          spec.b_layout = static_cast<Layout>(seed / 3 % kLayouts);
          spec.regime = static_cast<Regime>(regime);
          spec.batch = 1 + seed % 2;
          spec.grid_exponent = exponent;
          Compare(spec, seed, isa, 1 + static_cast<int>(seed % 3));
        }
      }
    }
  }
  EXPECT_GT(compared_, 100000);
  EXPECT_GT(seen_.below_grid, 1000) << "the count was not put to the test";
  EXPECT_TRUE(seen_.non_finite());
}

TEST_F(MatmulGridTest, N5LongLeavesAndThreads) {
  for (const int threads : {1, 2, 3, 8}) {
    MatmulSpec spec = Spec(40, 100, 2, 1100);
    spec.grid_exponent = 43;
    Compare(spec, 500, BestIsa(), threads);
  }
  EXPECT_GT(compared_, 16000);
}

// Without slices the product is one leaf.
TEST_F(MatmulGridTest, N5OneLeaf) {
  MatmulSpec spec = Spec(20, 40, 1, 96);
  spec.slices.clear();
  spec.grid_exponent = 40;
  Compare(spec, 600, BestIsa(), 1);
  EXPECT_GT(compared_, 800);
}

// Integers have no order: leaves backwards, one call each, give the same sums
// and statistics. With fp32 sums they do not, or the test would say nothing.
TEST_F(MatmulGridTest, N5LeavesInAnyOrder) {
  MatmulSpec spec = Spec(30, 50, 4, 64);
  spec.grid_exponent = 42;
  for (const bool integers : {true, false}) {
    if (!integers) {
      spec.c_dtype = DType::kF32;
      spec.accumulate = true;
    }
    MatmulCase product(spec, 700);
    Device device(2, BestIsa());
    const auto want =
        product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
    const GridStats want_stats = product.stats();
    const auto got = product.Run([&](MatmulArgs args) {
      const KSlice* slices = args.slices;
      args.slice_count = 1;
      for (const int leaf : {2, 0, 3, 1}) {
        args.slices = slices + leaf;
        Matmul(device, args);
      }
    });
    std::string report;
    const int64_t differences =
        product.CountDifferences(want, got, &report, &compared_);
    if (integers) {
      EXPECT_EQ(differences, 0) << report;
      EXPECT_EQ(product.stats(), want_stats);
    } else {
      EXPECT_GT(differences, 100);
    }
  }
}

// N5: a probe writes nothing and finds the maximum of the pass that adds.
TEST_F(MatmulGridTest, N5Probe) {
  for (const Isa isa : PresentIsas()) {
    MatmulCase product(Spec(37, 45, 3, 80), 800);
    Device device(2, isa);
    product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
    const float max_abs = product.stats().max_abs;
    const auto untouched = product.Run([](const MatmulArgs&) {});
    const auto after = product.Run([&](MatmulArgs args) {
      args.c = nullptr;
      Matmul(device, args);
    });
    EXPECT_EQ(untouched, after);
    EXPECT_EQ(product.stats().max_abs, max_abs);
    EXPECT_EQ(product.stats().below_grid, 0);
    EXPECT_GT(max_abs, 1.0f);
  }
}

}  // namespace
}  // namespace lockstep
