// N1, N7, N13: the formulas of rms_norm.h, byte for byte, on hostile numbers
// and odd shapes, and that their order shows.

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "model/kernels/norm_testing.h"
#include "model/kernels/regimes.h"
#include "model/kernels/rms_norm/rms_norm_testing.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

const char* const kOutputs[] = {"y", "rstd", "dx", "dweight"};

RmsNormProblem Hostile(DType dtype, const NormShape& shape, Regime regime) {
  return {RegimeMatrix(dtype, shape.rows, shape.width, regime, 1),
          RegimeMatrix(dtype, shape.rows, shape.width, regime, 2),
          RegimeFloats(shape.width, regime, 3), shape.groups,
          shape.rows_per_leaf};
}

TEST(RmsNormOrderTest, N1N2N7N13EveryRegimeAndShapeFollowsTheFormulas) {
  size_t turn = 0;  // each regime meets every type, each shape too
  for (const Regime regime : kAllRegimes) {
    for (const NormShape& shape : kNormShapes) {
      const RmsNormProblem p =
          Hostile(kStorageTypes[turn++ % 3], shape, regime);
      const auto got = RunRmsNormEverywhere(p);
      const RmsNormReference want(p);
      for (int i = 0; i < 4; ++i) {
        ExpectSameMatrix(want.out()[i], got[i],
                         std::string(kOutputs[i]) + ", " + NameOf(regime) +
                             ", width " + std::to_string(shape.width));
      }
    }
  }
}

// The canary: chains along rows, and down leaves without blocks, differ.
TEST(RmsNormOrderTest, N7AnotherOrderDiffers) {
  const RmsNormProblem p =
      Hostile(DType::kF32, {144, 520, 4, 48}, Regime::kCancelling);
  const RmsNormReference want(p);
  const RmsNormReference chains(p, NormOrder::kChains);
  ExpectOrderShows(want.out(), chains.out(), kOutputs);
}

}  // namespace
}  // namespace lockstep
