// The tile registers of AMX, on any machine with AVX-512: the kernel's own
// instructions, trapped where the processor has none (tile_trap.h).

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/grid.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_case.h"
#include "model/kernels/matmul/matmul_kernel.h"
#include "model/kernels/matmul/matmul_reference.h"
#include "model/kernels/tile_trap.h"

namespace lockstep {
namespace {

class MatmulAmxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsaPresent(Isa::kAmx) && !EmulateTiles()) {
      GTEST_SKIP() << "neither AMX nor AVX-512 is on this machine";
    }
  }

  void Compare(const MatmulSpec& spec, uint32_t seed) {
    MatmulCase product(spec, seed);
    const auto want = product.Run(MatmulReference);
    const GridStats stats = product.stats();
    Device device(1, Isa::kAmx);
    const auto got =
        product.Run([&](const MatmulArgs& args) { Matmul(device, args); });
    std::string report;
    EXPECT_EQ(product.CountDifferences(want, got, &report, &compared_), 0)
        << report;
    EXPECT_EQ(product.stats(), stats) << spec.Text();
  }

  int64_t compared_ = 0;
};

// Not a single FMA of another level: BF16 products are made of tiles.
TEST_F(MatmulAmxTest, Bf16GoesThroughTheTiles) {
  if (IsaPresent(Isa::kAmx)) GTEST_SKIP() << "nothing is trapped here";
  const TileCounts before = EmulatedTiles();
  Compare({.m = 64, .n = 96, .k = 128, .dtype = DType::kBF16}, 1);
  const TileCounts after = EmulatedTiles();
  EXPECT_EQ(after.products - before.products, 4 * 6 * 4);
  Compare({.m = 64, .n = 96, .k = 128, .dtype = DType::kF16}, 2);
  Compare({.m = 64, .n = 96, .k = 128, .dtype = DType::kF32}, 3);
  EXPECT_EQ(EmulatedTiles().products, after.products);
}

// N4 and N5: lists of segments a slice, trees, leaves on the integer grid.
TEST_F(MatmulAmxTest, SlicesAndTheGrid) {
  uint32_t seed = 10;
  for (const int64_t count : {1, 2, 4, 8}) {
    for (const int64_t part : {40, 264}) {
      const std::vector<int64_t> parts = {part, part / 2};
      MatmulSpec spec = {.m = 45,
                         .n = 50,
                         .k = Sum(parts),
                         .dtype = DType::kBF16,
                         .c_dtype = DType::kBF16,
                         .regime = Regime::kCancelling};
      spec.slices = FusedSlices(parts, count);
      spec.a_layout = static_cast<Layout>(seed % kLayouts);
      spec.b_layout = static_cast<Layout>(seed / 2 % kLayouts);
      Compare(spec, ++seed);
      spec.c_dtype = DType::kI64;
      spec.slice_use = SliceUse::kLeaves;
      spec.regime = Regime::kUniform;
      spec.grid_exponent = 30;
      Compare(spec, ++seed);
    }
  }
  EXPECT_GT(compared_, 30000);
}

// The check that a processor's tiles must pass before they are used sees a
// product in another order, and none in a level that keeps it.
TEST_F(MatmulAmxTest, AnotherOrderIsNotTakenForAmx32) {
  EXPECT_TRUE(FollowsOrder(&amx::MatmulRange));
  EXPECT_TRUE(FollowsOrder(&avx2::MatmulRange));
  const MatmulRangeFunction one_chain = [](const MatmulArgs& args, int64_t,
                                           int64_t) {
    std::vector<float> a, b;
    const auto* const from_a = static_cast<const BF16*>(args.a.data);
    const auto* const from_b = static_cast<const BF16*>(args.b.data);
    for (int64_t i = 0; i < args.m * args.k; ++i) a.push_back(ToF32(from_a[i]));
    for (int64_t i = 0; i < args.n * args.k; ++i) b.push_back(ToF32(from_b[i]));
    MatmulArgs chain = args;
    chain.a.data = a.data();
    chain.b.data = b.data();
    chain.a.dtype = chain.b.dtype = DType::kF32;
    scalar::MatmulRange(chain, 0, StripsOf(args.m, args.n).per_batch);
  };
  EXPECT_FALSE(FollowsOrder(one_chain));
}

}  // namespace
}  // namespace lockstep
