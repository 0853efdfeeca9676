#include "model/kernels/gated_norm/gated_norm.h"

#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr double kEps = 1e-5;
constexpr int64_t kRows = 144;
constexpr int64_t kLeafRows = 48;
constexpr int64_t kWidth = 520;

struct Problem {
  TestMatrix y, z, dout;
  std::vector<float> weight;
  int64_t groups;
  int64_t rows_per_leaf;
};

Problem RandomProblem(DType dtype, int64_t groups) {
  return {RandomMatrix(dtype, kRows, kWidth, 1, -2, 2),
          RandomMatrix(dtype, kRows, kWidth, 2, -6, 6),
          RandomMatrix(dtype, kRows, kWidth, 3),
          RandomFloats(kWidth, 4, 0.5f, 1.5f),
          groups,
          kLeafRows};
}

// out, rstd, dy, dz, dweight.
std::vector<TestMatrix> Outputs(const Problem& p) {
  const TestMatrix like(p.y.dtype(), p.y.rows(), p.y.columns());
  return {
      like, TestMatrix(DType::kF32, p.y.rows(), p.groups, 0), like, like,
      TestMatrix(DType::kF32, p.y.rows() / p.rows_per_leaf, p.y.columns(), 0)};
}

void RunOn(Device& device, const Problem& p, std::vector<TestMatrix>& out) {
  GatedNormForward(
      device,
      {p.y.rows(), p.y.columns(), p.groups, kEps, p.y.dtype(), p.y.data(),
       p.y.row_stride(), p.z.data(), p.z.row_stride(), p.weight.data(),
       out[0].data(), out[0].row_stride(), out[1].as<float>()});
  GatedNormBackward(
      device,
      {p.y.rows(), p.y.columns(), p.groups, p.rows_per_leaf, p.y.dtype(),
       p.dout.data(), p.dout.row_stride(), p.y.data(), p.y.row_stride(),
       p.z.data(), p.z.row_stride(), out[1].as<float>(), p.weight.data(),
       out[2].data(), out[2].row_stride(), out[3].data(), out[3].row_stride(),
       out[4].as<float>()});
}

std::vector<TestMatrix> RunEverywhere(const Problem& p) {
  return ExpectSameOnEveryDevice(
      Outputs(p), [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunOn(device, p, outputs);
      });
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

TEST(GatedNormTest, N7TheWeightGradientHasTheWrittenOrder) {
  const ScopedFloatEnv env;
  const Problem p = RandomProblem(DType::kF32, 4);
  const auto out = RunEverywhere(p);
  TestMatrix terms(DType::kF32, kRows, kWidth, 0);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) {
      const float z = static_cast<float>(p.z.At(i, j));
      const float m = static_cast<float>(p.y.At(i, j)) * (z * math::Sigmoid(z));
      const float rstd = static_cast<float>(out[1].At(i, j / (kWidth / 4)));
      terms.Set(i, j, static_cast<float>(p.dout.At(i, j)) * (m * rstd));
    }
  }
  TestMatrix dweight(DType::kF32, kRows / kLeafRows, kWidth, 0);
  for (int64_t leaf = 0; leaf < kRows / kLeafRows; ++leaf) {
    OrderedColumnSum(static_cast<float*>(terms.row(leaf * kLeafRows)),
                     kLeafRows, kWidth, kWidth,
                     static_cast<float*>(dweight.row(leaf)));
  }
  ExpectSameMatrix(dweight, out[4], "dweight");
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
