#include "model/kernels/gated_norm/gated_norm.h"

#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/gated_norm/gated_norm_testing.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr double kEps = GatedNormProblem::kEps;
constexpr int64_t kRows = 144;
constexpr int64_t kLeafRows = 48;
constexpr int64_t kWidth = 520;

using Problem = GatedNormProblem;

Problem RandomProblem(DType dtype, int64_t groups) {
  return {RandomMatrix(dtype, kRows, kWidth, 1, -2, 2),
          RandomMatrix(dtype, kRows, kWidth, 2, -6, 6),
          RandomMatrix(dtype, kRows, kWidth, 3),
          RandomFloats(kWidth, 4, 0.5f, 1.5f),
          groups,
          kLeafRows};
}

std::vector<TestMatrix> RunEverywhere(const Problem& p) {
  return RunGatedNormEverywhere(p);
}

TEST(GatedNormTest, N1N8N13SameBytesEverywhereAndRoundedOnce) {
  for (const DType dtype : kStorageTypes) {
    for (const int64_t groups : {1, 4}) {
      const Problem p = RandomProblem(dtype, groups);
      const auto narrow = RunEverywhere(p);
      const auto wide = RunEverywhere(
          {Converted(p.y, DType::kF32), Converted(p.z, DType::kF32),
           Converted(p.dout, DType::kF32), p.weight, groups, p.rows_per_leaf});
      ExpectSameMatrix(Converted(wide[0], dtype), narrow[0], "out");
      ExpectSameMatrix(wide[1], narrow[1], "rstd");
      ExpectSameMatrix(Converted(wide[2], dtype), narrow[2], "dy");
      ExpectSameMatrix(Converted(wide[3], dtype), narrow[3], "dz");
      ExpectSameMatrix(wide[4], narrow[4], "dweight");
    }
  }
}

TEST(GatedNormTest, N1ALeafAloneGivesWhatItGivesInABatch) {
  const Problem batch = RandomProblem(DType::kBF16, 4);
  const auto all = RunEverywhere(batch);
  Problem alone = batch;
  const auto leaf_of = [](const TestMatrix& matrix) {
    TestMatrix leaf(DType::kBF16, kLeafRows, kWidth);
    for (int64_t i = 0; i < kLeafRows; ++i) {
      for (int64_t j = 0; j < kWidth; ++j) {
        leaf.Set(i, j, static_cast<float>(matrix.At(kLeafRows + i, j)));
      }
    }
    return leaf;
  };
  alone.y = leaf_of(batch.y);
  alone.z = leaf_of(batch.z);
  alone.dout = leaf_of(batch.dout);
  const auto one = RunEverywhere(alone);
  for (int i = 0; i < 4; ++i) {
    ExpectSameRows(all[i], kLeafRows, one[i], 0, kLeafRows, "rows");
  }
  ExpectSameRows(all[4], 1, one[4], 0, 1, "dweight");
}

// Two groups of unequal size. Counts of roundings as for RMSNorm, and the gate
// with its sigmoid on top; dz multiplies more.
TEST(GatedNormTest, MeetsTheOracle) {
  const GoldenFile golden("layers.safetensors");
  const std::vector<int64_t> shape = golden.Shape("gated_norm/in/y");
  const int64_t rows = shape[0] * shape[1];
  const int64_t d = shape[2];
  const std::vector<float> in = golden.Floats("gated_norm/in/y");
  const std::vector<float> z = golden.Floats("gated_norm/in/z");
  const std::vector<float> dout = golden.Floats("gated_norm/cotangent");
  const std::vector<float> weight = golden.Floats("gated_norm/in/weight");
  std::vector<float> out(rows * d), rstd(rows * 2), dy(rows * d), dz(rows * d),
      dweight(d);
  Device device(1, BestIsa());
  GatedNormForward(device,
                   {rows, d, 2, kEps, DType::kF32, in.data(), d, z.data(), d,
                    weight.data(), out.data(), d, rstd.data()});
  GatedNormBackward(
      device,
      {rows, d, 2, rows, DType::kF32, dout.data(), d, in.data(), d, z.data(), d,
       rstd.data(), weight.data(), dy.data(), d, dz.data(), d, dweight.data()});
  ExpectNearRows(out.data(), golden.Doubles("gated_norm/out"),
                 golden.Shape("gated_norm/out").back(), 24, "out");
  ExpectNearRows(dy.data(), golden.Doubles("gated_norm/grads/y"),
                 golden.Shape("gated_norm/grads/y").back(), 48, "dy");
  ExpectNearRows(dz.data(), golden.Doubles("gated_norm/grads/z"),
                 golden.Shape("gated_norm/grads/z").back(), 48, "dz");
  ExpectNearRows(dweight.data(), golden.Doubles("gated_norm/grads/weight"),
                 golden.Shape("gated_norm/grads/weight").back(), 48, "dweight");
}

}  // namespace
}  // namespace lockstep
