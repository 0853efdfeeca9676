// N1, N7: the contract of conv1d_silu.h, byte for byte, on hostile numbers and
// odd shapes, alone and in a batch, and that its order shows.

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/kernels/conv1d_silu/conv1d_silu_testing.h"
#include "model/kernels/regimes.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

struct Shape {
  int64_t batch, tokens, channels, samples_per_leaf;
};
constexpr Shape kShapes[] = {{1, 1, 1, 1},   {2, 15, 17, 1}, {1, 31, 33, 1},
                             {2, 33, 31, 2}, {1, 63, 65, 1}, {3, 65, 15, 3},
                             {4, 17, 63, 2}};

ConvProblem Hostile(DType dtype, const Shape& s, Regime regime) {
  return {s.batch,
          RegimeMatrix(dtype, s.batch * s.tokens, s.channels, regime, 1),
          RegimeMatrix(dtype, s.batch * s.tokens, s.channels, regime, 2),
          RegimeFloats(s.channels * 4, regime, 3),
          RegimeFloats(s.channels, regime, 4),
          {},
          s.samples_per_leaf};
}

TEST(Conv1dSiluRegimesTest, N1N2N7N13EveryRegimeAndShapeMeetsTheContract) {
  size_t turn = 0;  // each regime meets every type, each shape too
  for (const Regime regime : kAllRegimes) {
    for (const Shape& shape : kShapes) {
      const ConvProblem p = Hostile(kStorageTypes[turn++ % 3], shape, regime);
      ExpectConvReference(p, RunConvEverywhere(p),
                          std::string(", ") + NameOf(regime) + ", " +
                              std::to_string(shape.channels) + " channels");
    }
  }
}

TEST(Conv1dSiluRegimesTest, N1ALeafAloneGivesWhatItGivesInABatch) {
  for (const DType dtype : kStorageTypes) {
    ConvProblem p = Hostile(dtype, {6, 45, 150, 2}, Regime::kUniform);
    const auto all = RunConvEverywhere(p);
    const int64_t rows = 2 * 45;
    const ConvProblem one{2,
                          RowsOf(p.x, rows, rows),
                          RowsOf(p.dy, rows, rows),
                          p.weight,
                          p.bias,
                          {},
                          2};
    const auto alone = RunConvEverywhere(one);
    ExpectSameRows(all[0], rows, alone[0], 0, rows, "y");
    ExpectSameRows(all[1], rows, alone[1], 0, rows, "dx");
    ExpectSameRows(all[2], 1, alone[2], 0, 1, "dweight");
    ExpectSameRows(all[3], 1, alone[3], 0, 1, "dbias");
  }
}

// The canary: a chain down the leaf, without blocks, differs.
TEST(Conv1dSiluRegimesTest, N7AnotherOrderDiffers) {
  const ScopedFloatEnv env;
  const ConvProblem p = Hostile(DType::kF32, {2, 90, 40, 2}, Regime::kUniform);
  const ConvReference reference(p);
  int64_t differing = 0;
  for (int64_t c = 0; c < p.channels(); ++c) {
    for (int64_t k = 0; k < 5; ++k) {
      differing += reference.ParameterGradient(0, c, k) !=
                           reference.ParameterGradient(0, c, k, 180)
                       ? 1
                       : 0;
    }
  }
  EXPECT_GT(differing, p.channels() * 5 / 4);
}

}  // namespace
}  // namespace lockstep
