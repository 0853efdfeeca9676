// N1, N5: the contract of embedding.h, byte for byte, on hostile numbers and
// odd shapes, and that its order shows.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/embedding/embedding.h"
#include "model/kernels/regimes.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kVocab = 13;

struct Problem {
  TestMatrix table;  // as dout, without gaps
  TestMatrix dout;
  TestMatrix start;  // F32: what the gradient is added to
  std::vector<int32_t> ids;
  int64_t rows_per_leaf;
};

// Ids from 10 on never occur.
Problem Hostile(DType dtype, int64_t rows, int64_t width, Regime regime,
                int64_t rows_per_leaf) {
  Problem p{TestMatrix(dtype, kVocab, width, 0),
            RegimeMatrix(dtype, rows, width, regime, 1),
            TestMatrix(DType::kF32, kVocab, width, 0),
            {},
            rows_per_leaf};
  const std::vector<float> table = RegimeFloats(kVocab * width, regime, 2);
  const std::vector<float> start = RegimeFloats(kVocab * width, regime, 3);
  for (int64_t i = 0; i < kVocab * width; ++i) {
    p.table.Set(i / width, i % width, table[i]);
    p.start.Set(i / width, i % width, start[i]);
  }
  for (int64_t i = 0; i < rows; ++i) {
    p.ids.push_back(static_cast<int32_t>(i % 3 == 0 ? 5 : i * 7 % 10));
  }
  return p;
}

// out, dtable.
std::vector<TestMatrix> RunEverywhere(const Problem& p) {
  const int64_t rows = p.dout.rows(), width = p.dout.columns();
  const DType dtype = p.dout.dtype();
  return ExpectSameOnEveryDevice(
      {TestMatrix(dtype, rows, width), p.start},
      [&](Device& device, std::vector<TestMatrix>& out) {
        std::copy_n(static_cast<const float*>(p.start.data()), kVocab * width,
                    out[1].as<float>());
        EmbeddingForward(
            device, {rows, width, kVocab, dtype, p.table.data(), p.ids.data(),
                     out[0].data(), out[0].row_stride()});
        EmbeddingBackward(
            device, {rows, width, kVocab, p.rows_per_leaf, dtype, p.dout.data(),
                     p.dout.row_stride(), p.ids.data(), out[1].as<float>(),
                     std::nullopt});
      });
}

TestMatrix ReferenceGradient(const Problem& p, int64_t rows_per_leaf) {
  const ScopedFloatEnv env;
  TestMatrix dtable = p.start;
  for (int64_t leaf = 0; leaf < p.dout.rows(); leaf += rows_per_leaf) {
    for (int32_t id = 0; id < kVocab; ++id) {
      for (int64_t j = 0; j < p.dout.columns(); ++j) {
        float chain = 0;
        bool occurs = false;
        for (int64_t row = leaf; row < leaf + rows_per_leaf; ++row) {
          if (p.ids[row] != id) continue;
          occurs = true;
          chain += static_cast<float>(p.dout.At(row, j));
        }
        if (!occurs) continue;
        dtable.Set(id, j, static_cast<float>(dtable.At(id, j)) + chain);
      }
    }
  }
  return dtable;
}

TEST(EmbeddingRegimesTest, N1N2N5EveryRegimeAndShapeMeetsTheContract) {
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t width : kOddExtents) {
        const int64_t rows = 66 - width;
        const Problem p = Hostile(dtype, rows, width, regime,
                                  rows % 3 == 0 ? rows / 3 : rows);
        const auto got = RunEverywhere(p);
        const std::string what =
            std::string(NameOf(regime)) + ", width " + std::to_string(width);
        for (int64_t i = 0; i < rows; ++i) {
          ExpectSameRows(p.table, p.ids[i], got[0], i, 1, "out, " + what);
        }
        ExpectSameMatrix(ReferenceGradient(p, p.rows_per_leaf), got[1],
                         "dtable, " + what);
      }
    }
  }
}

// The canary: other leaves, and a chain that begins in the table, differ.
TEST(EmbeddingRegimesTest, N5AnotherOrderDiffers) {
  const Problem p = Hostile(DType::kF32, 60, 65, Regime::kUniform, 20);
  const TestMatrix written = ReferenceGradient(p, 20);
  for (const int64_t other : {60, 1}) {
    const TestMatrix differs = ReferenceGradient(p, other);
    int64_t differing = 0;
    for (int64_t i = 0; i < 10; ++i) {
      for (int64_t j = 0; j < 65; ++j) {
        differing += written.At(i, j) != differs.At(i, j) ? 1 : 0;
      }
    }
    EXPECT_GT(differing, 65) << other << " rows a leaf";
  }
}

}  // namespace
}  // namespace lockstep
