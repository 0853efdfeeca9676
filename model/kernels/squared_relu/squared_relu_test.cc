#include "model/kernels/squared_relu/squared_relu.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 301;
constexpr int64_t kWidth = 263;

double Formula(double x) { return x > 0 ? x * x : 0; }

void Forward(Device& device, const TestMatrix& x, TestMatrix& y) {
  SquaredReluForward(device, {x.rows(), x.columns(), x.dtype(), x.data(),
                              x.row_stride(), y.data(), y.row_stride()});
}

void Backward(Device& device, const TestMatrix& dy, const TestMatrix& x,
              TestMatrix& dx) {
  SquaredReluBackward(
      device, {x.rows(), x.columns(), x.dtype(), dy.data(), dy.row_stride(),
               x.data(), x.row_stride(), dx.data(), dx.row_stride()});
}

std::vector<TestMatrix> RunEverywhere(const TestMatrix& dy,
                                      const TestMatrix& x) {
  const TestMatrix like(x.dtype(), x.rows(), x.columns());
  return ExpectSameOnEveryDevice(
      {like, like}, [&](Device& device, std::vector<TestMatrix>& outputs) {
        Forward(device, x, outputs[0]);
        Backward(device, dy, x, outputs[1]);
      });
}

TEST(SquaredReluTest, N1N13SameBytesEverywhereAndRoundedOnce) {
  for (const DType dtype : kStorageTypes) {
    const TestMatrix x = RandomMatrix(dtype, kRows, kWidth, 1, -3, 3);
    const TestMatrix dy = RandomMatrix(dtype, kRows, kWidth, 2);
    const auto narrow = RunEverywhere(dy, x);
    const auto wide =
        RunEverywhere(Converted(dy, DType::kF32), Converted(x, DType::kF32));
    ExpectSameMatrix(Converted(wide[0], dtype), narrow[0], "y");
    ExpectSameMatrix(Converted(wide[1], dtype), narrow[1], "dx");
  }
}

TEST(SquaredReluTest, ValuesAndCentralDifferences) {
  const TestMatrix x = RandomMatrix(DType::kF32, 3, 61, 3, -3, 3);
  const TestMatrix dy = RandomMatrix(DType::kF32, 3, 61, 4);
  const auto out = RunEverywhere(dy, x);
  // Two roundings each. The difference of a parabola has no truncation error;
  // its rounding error is about 2^-53 * 9 / h.
  const double h = 0x1p-16;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 61; ++j) {
      const double at = x.At(i, j);
      const double want = Formula(at);
      EXPECT_LE(std::abs(out[0].At(i, j) - want), 0x1p-23 * want);
      if (std::abs(at) <= h) continue;  // the kink
      const double slope = (Formula(at + h) - Formula(at - h)) / (2 * h);
      EXPECT_LE(std::abs(out[1].At(i, j) - slope * dy.At(i, j)),
                0x1p-23 * std::abs(slope) + 0x1p-53 * 9 / h);
    }
  }
}

TEST(SquaredReluTest, InPlaceGivesTheSame) {
  const TestMatrix x = RandomMatrix(DType::kBF16, 5, 77, 5, -3, 3);
  const TestMatrix dy = RandomMatrix(DType::kBF16, 5, 77, 6);
  const auto want = RunEverywhere(dy, x);
  Device device(1, BestIsa());
  TestMatrix y = x;
  Forward(device, y, y);
  ExpectSameMatrix(want[0], y, "y over x");
  TestMatrix dx = dy;
  Backward(device, dx, x, dx);
  ExpectSameMatrix(want[1], dx, "dx over dy");
}

TEST(SquaredReluTest, ANaNStaysOneSoThatItIsFound) {
  TestMatrix x(DType::kF32, 1, 40);
  for (int64_t j = 0; j < 40; ++j) x.Set(0, j, std::nanf(""));
  const auto out = RunEverywhere(x, x);
  for (int64_t j = 0; j < 40; ++j) {
    EXPECT_TRUE(std::isnan(out[0].At(0, j)) && std::isnan(out[1].At(0, j)));
  }
}

}  // namespace
}  // namespace lockstep
