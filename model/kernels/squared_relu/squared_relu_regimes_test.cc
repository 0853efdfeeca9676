// N1, N13: the formulas of squared_relu.h, byte for byte, on hostile numbers
// and odd shapes, alone and in a batch.

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/regimes.h"
#include "model/kernels/squared_relu/squared_relu.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

// y, dx.
std::vector<TestMatrix> RunEverywhere(const TestMatrix& dy,
                                      const TestMatrix& x) {
  const TestMatrix like(x.dtype(), x.rows(), x.columns());
  return ExpectSameOnEveryDevice(
      {like, like}, [&](Device& device, std::vector<TestMatrix>& outputs) {
        SquaredReluForward(
            device, {x.rows(), x.columns(), x.dtype(), x.data(), x.row_stride(),
                     outputs[0].data(), outputs[0].row_stride()});
        SquaredReluBackward(device,
                            {x.rows(), x.columns(), x.dtype(), dy.data(),
                             dy.row_stride(), x.data(), x.row_stride(),
                             outputs[1].data(), outputs[1].row_stride()});
      });
}

std::vector<TestMatrix> Reference(const TestMatrix& dy, const TestMatrix& x) {
  const ScopedFloatEnv env;
  std::vector<TestMatrix> out(2, TestMatrix(x.dtype(), x.rows(), x.columns()));
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < x.columns(); ++j) {
      const float at = static_cast<float>(x.At(i, j));
      const float r = at < 0 ? 0.0f : at;
      out[0].Set(i, j, r * r);
      out[1].Set(i, j, (2.0f * r) * static_cast<float>(dy.At(i, j)));
    }
  }
  return out;
}

TEST(SquaredReluRegimesTest, N1N2N13EveryRegimeAndShapeFollowsTheFormulas) {
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t width : kOddExtents) {
        const TestMatrix x = RegimeMatrix(dtype, 66 - width, width, regime, 1);
        const TestMatrix dy = RegimeMatrix(dtype, 66 - width, width, regime, 2);
        const auto want = Reference(dy, x);
        const auto got = RunEverywhere(dy, x);
        const std::string what =
            std::string(NameOf(regime)) + ", width " + std::to_string(width);
        ExpectSameMatrix(want[0], got[0], "y, " + what);
        ExpectSameMatrix(want[1], got[1], "dx, " + what);
      }
    }
  }
}

TEST(SquaredReluRegimesTest, N1RowsAloneGiveWhatTheyGiveInABatch) {
  for (const DType dtype : kStorageTypes) {
    const TestMatrix x = RegimeMatrix(dtype, 97, 263, Regime::kCancelling, 3);
    const TestMatrix dy = RegimeMatrix(dtype, 97, 263, Regime::kCancelling, 4);
    const auto all = RunEverywhere(dy, x);
    for (const int64_t rows : {1, 17}) {
      const auto part =
          RunEverywhere(RowsOf(dy, 41, rows), RowsOf(x, 41, rows));
      ExpectSameRows(all[0], 41, part[0], 0, rows, "y");
      ExpectSameRows(all[1], 41, part[1], 0, rows, "dx");
    }
  }
}

}  // namespace
}  // namespace lockstep
