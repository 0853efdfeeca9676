#include "model/kernels/rms_norm/rms_norm.h"

#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/rms_norm/rms_norm_testing.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr double kEps = RmsNormProblem::kEps;
constexpr int64_t kRows = 144;
constexpr int64_t kLeafRows = 48;  // one block of 32 rows and one of 16
constexpr int64_t kWidth = 520;    // 4 groups of 130: a block of columns and 2

using Problem = RmsNormProblem;

Problem RandomProblem(DType dtype, int64_t groups) {
  return {RandomMatrix(dtype, kRows, kWidth, 1, -2, 2),
          RandomMatrix(dtype, kRows, kWidth, 2),
          RandomFloats(kWidth, 3, 0.5f, 1.5f), groups, kLeafRows};
}

std::vector<TestMatrix> RunEverywhere(const Problem& p) {
  return RunRmsNormEverywhere(p);
}

TEST(RmsNormTest, N1N13SameBytesEverywhereAndRoundedOnce) {
  for (const DType dtype : kStorageTypes) {
    for (const int64_t groups : {1, 4}) {
      const Problem p = RandomProblem(dtype, groups);
      const auto narrow = RunEverywhere(p);
      const auto wide = RunEverywhere({Converted(p.x, DType::kF32),
                                       Converted(p.dy, DType::kF32), p.weight,
                                       groups, p.rows_per_leaf});
      ExpectSameMatrix(Converted(wide[0], dtype), narrow[0], "y");
      ExpectSameMatrix(wide[1], narrow[1], "rstd");
      ExpectSameMatrix(Converted(wide[2], dtype), narrow[2], "dx");
      ExpectSameMatrix(wide[3], narrow[3], "dweight");
    }
  }
}

TEST(RmsNormTest, N1ALeafAloneGivesWhatItGivesInABatch) {
  const Problem batch = RandomProblem(DType::kBF16, 1);
  const auto all = RunEverywhere(batch);
  Problem alone = batch;
  alone.x = TestMatrix(DType::kBF16, kLeafRows, kWidth);
  alone.dy = alone.x;
  for (int64_t i = 0; i < kLeafRows; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) {
      alone.x.Set(i, j, static_cast<float>(batch.x.At(kLeafRows + i, j)));
      alone.dy.Set(i, j, static_cast<float>(batch.dy.At(kLeafRows + i, j)));
    }
  }
  const auto one = RunEverywhere(alone);
  for (int i = 0; i < 3; ++i) {
    ExpectSameRows(all[i], kLeafRows, one[i], 0, kLeafRows, "rows");
  }
  ExpectSameRows(all[3], 1, one[3], 0, 1, "dweight");
}

TEST(RmsNormTest, InPlaceGivesTheSame) {
  const Problem p = RandomProblem(DType::kBF16, 1);
  const auto want = RunEverywhere(p);
  Device device(2, BestIsa());
  TestMatrix y = p.x;
  std::vector<float> rstd(kRows);
  RmsNormForward(
      device, {kRows, kWidth, 1, kEps, DType::kBF16, y.data(), y.row_stride(),
               p.weight.data(), y.data(), y.row_stride(), rstd.data()});
  ExpectSameMatrix(want[0], y, "y over x");
}

// Rows of zeros, of 1e-3 (eps outweighs them) and of 1e3 are among them. A row
// sum of 64 has 7 additions a lane and tree; y adds 6 operations, dx a second
// sum and 8; dweight 21 additions whose terms may cancel.
TEST(RmsNormTest, MeetsTheOracle) {
  const GoldenFile golden("layers.safetensors");
  const std::vector<int64_t> shape = golden.Shape("rms_norm/in/x");
  const int64_t rows = shape[0] * shape[1];
  const int64_t d = shape[2];
  const std::vector<float> in = golden.Floats("rms_norm/in/x");
  const std::vector<float> dy = golden.Floats("rms_norm/cotangent");
  const std::vector<float> weight = golden.Floats("rms_norm/in/weight");
  std::vector<float> y(rows * d), rstd(rows), dx(rows * d), dweight(d);
  Device device(1, BestIsa());
  RmsNormForward(device, {rows, d, 1, kEps, DType::kF32, in.data(), d,
                          weight.data(), y.data(), d, rstd.data()});
  RmsNormBackward(device,
                  {rows, d, 1, rows, DType::kF32, dy.data(), d, in.data(), d,
                   rstd.data(), weight.data(), dx.data(), d, dweight.data()});
  ExpectNearRows(y.data(), golden.Doubles("rms_norm/out"),
                 golden.Shape("rms_norm/out").back(), 16, "y");
  ExpectNearRows(dx.data(), golden.Doubles("rms_norm/grads/x"),
                 golden.Shape("rms_norm/grads/x").back(), 32, "dx");
  ExpectNearRows(dweight.data(), golden.Doubles("rms_norm/grads/weight"),
                 golden.Shape("rms_norm/grads/weight").back(), 32, "dw");
}

}  // namespace
}  // namespace lockstep
