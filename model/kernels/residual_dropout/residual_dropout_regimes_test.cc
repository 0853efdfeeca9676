// N1, N9, N13: the formulas of residual_dropout.h, byte for byte, on hostile
// numbers and odd shapes.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/philox.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/regimes.h"
#include "model/kernels/residual_dropout/residual_dropout.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr uint64_t kSeed = 0x123456789abcdefull;
constexpr uint64_t kSampleIds[] = {7, 9, 100};

DropoutPosition Position(double p, int64_t rows) {
  return {p, kSeed, 3, kSampleIds, rows / 3, 0};
}

// out, and dy where dres = y.
std::vector<TestMatrix> RunEverywhere(const TestMatrix& x, const TestMatrix& y,
                                      double p) {
  const TestMatrix like(x.dtype(), x.rows(), x.columns());
  const DropoutPosition at = Position(p, x.rows());
  return ExpectSameOnEveryDevice(
      {like, like}, [&](Device& device, std::vector<TestMatrix>& out) {
        ResidualDropoutForward(
            device,
            {x.rows(), x.columns(), x.dtype(), x.data(), x.row_stride(),
             y.data(), y.row_stride(), out[0].data(), out[0].row_stride(), at});
        ResidualDropoutBackward(
            device, {x.rows(), x.columns(), x.dtype(), y.data(), y.row_stride(),
                     out[1].data(), out[1].row_stride(), at});
      });
}

std::vector<TestMatrix> Reference(const TestMatrix& x, const TestMatrix& y,
                                  double p) {
  const ScopedFloatEnv env;
  const float scale = static_cast<float>(1 / (1 - p));
  const int64_t tokens = x.rows() / 3, width = x.columns();
  std::vector<TestMatrix> want = {x, y};
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const RandomPosition at{Stream::kHiddenDropout, 3, kSampleIds[i / tokens],
                              static_cast<uint64_t>(i % tokens * width + j)};
      const bool keep =
          p == 0 ||
          RandomU32(kSeed, at) >= static_cast<uint32_t>(std::floor(p * 0x1p32));
      const auto y_ij = static_cast<float>(y.At(i, j));
      const float dropped = p == 0 ? y_ij : keep ? y_ij * scale : 0.0f;
      want[0].Set(i, j, static_cast<float>(x.At(i, j)) + dropped);
      if (p != 0) want[1].Set(i, j, dropped);  // otherwise the bytes of y
    }
  }
  return want;
}

TEST(ResidualDropoutRegimesTest, N1N2N9N13EveryRegimeAndShapeIsTheFormulas) {
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t width : kOddExtents) {
        const int64_t rows = 3 * (66 - width);
        const TestMatrix x = RegimeMatrix(dtype, rows, width, regime, 1);
        const TestMatrix y = RegimeMatrix(dtype, rows, width, regime, 2);
        const double p = width % 4 == 1 ? 0 : 0.3;
        const auto want = Reference(x, y, p);
        const auto got = RunEverywhere(x, y, p);
        const std::string what =
            std::string(NameOf(regime)) + ", width " + std::to_string(width);
        ExpectSameMatrix(want[0], got[0], "out, " + what);
        ExpectSameMatrix(want[1], got[1], "dy, " + what);
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
