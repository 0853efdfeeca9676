// N1, N7, N13: the formulas of gated_norm.h, byte for byte, on hostile numbers
// and odd shapes, and that their order shows.

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "model/kernels/gated_norm/gated_norm_testing.h"
#include "model/kernels/regimes.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

const char* const kOutputs[] = {"out", "rstd", "dy", "dz", "dweight"};

struct Shape {
  int64_t rows, width, groups, rows_per_leaf;
};
constexpr Shape kShapes[] = {{1, 1, 1, 1},     {15, 17, 1, 5},  {33, 31, 1, 33},
                             {34, 65, 1, 17},  {63, 33, 3, 21}, {65, 63, 7, 65},
                             {17, 195, 3, 17}, {2, 130, 1, 1}};

GatedNormProblem Hostile(DType dtype, const Shape& shape, Regime regime) {
  return {RegimeMatrix(dtype, shape.rows, shape.width, regime, 1),
          RegimeMatrix(dtype, shape.rows, shape.width, regime, 2),
          RegimeMatrix(dtype, shape.rows, shape.width, regime, 3),
          RegimeFloats(shape.width, regime, 4),
          shape.groups,
          shape.rows_per_leaf};
}

TEST(GatedNormOrderTest, N1N2N7N8N13EveryRegimeAndShapeFollowsTheFormulas) {
  size_t turn = 0;  // each regime meets every type, each shape too
  for (const Regime regime : kAllRegimes) {
    for (const Shape& shape : kShapes) {
      const GatedNormProblem p =
          Hostile(kStorageTypes[turn++ % 3], shape, regime);
      const auto got = RunGatedNormEverywhere(p);
      const GatedNormReference want(p);
      for (int i = 0; i < 5; ++i) {
        ExpectSameMatrix(want.out()[i], got[i],
                         std::string(kOutputs[i]) + ", " + NameOf(regime) +
                             ", width " + std::to_string(shape.width));
      }
    }
  }
}

// The canary: chains along rows, and down leaves without blocks, differ.
TEST(GatedNormOrderTest, N7AnotherOrderDiffers) {
  const GatedNormProblem p =
      Hostile(DType::kF32, {144, 520, 4, 48}, Regime::kCancelling);
  const GatedNormReference want(p);
  const GatedNormReference chains(p, NormOrder::kChains);
  for (int output = 0; output < 5; ++output) {
    const TestMatrix& a = want.out()[output];
    const TestMatrix& b = chains.out()[output];
    int64_t differing = 0;
    for (int64_t i = 0; i < a.rows(); ++i) {
      for (int64_t j = 0; j < a.columns(); ++j) {
        differing += a.At(i, j) != b.At(i, j) ? 1 : 0;
      }
    }
    EXPECT_GT(differing, a.rows() * a.columns() / 20) << kOutputs[output];
  }
}

}  // namespace
}  // namespace lockstep
