// N4: the tree of slice_tree.h, byte for byte, on hostile numbers and odd
// shapes, alone and in a larger batch.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/regimes.h"
#include "model/kernels/slice_tree/slice_tree.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

struct Problem {
  std::vector<TestMatrix> partials;  // F32
  int64_t rows() const { return partials[0].rows(); }
  int64_t columns() const { return partials[0].columns(); }
};

Problem Hostile(int64_t count, int64_t rows, int64_t columns, Regime regime) {
  Problem p;
  for (int64_t s = 0; s < count; ++s) {
    p.partials.push_back(RegimeMatrix(DType::kF32, rows, columns, regime,
                                      static_cast<uint32_t>(s)));
  }
  return p;
}

TestMatrix RunEverywhere(const Problem& p, DType dtype) {
  const int64_t row_stride = p.columns() + 2;
  const int64_t stride = p.rows() * row_stride + 5;
  const auto count = static_cast<int64_t>(p.partials.size());
  std::vector<float> memory(count * stride + 1);
  for (int64_t s = 0; s < count; ++s) {
    for (int64_t i = 0; i < p.rows(); ++i) {
      const auto* row = static_cast<const float*>(p.partials[s].row(i));
      std::copy(row, row + p.columns(),
                &memory[1 + s * stride + i * row_stride]);
    }
  }
  return ExpectSameOnEveryDevice(
      {TestMatrix(dtype, p.rows(), p.columns())},
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        CombineSliceTree(device, {.rows = p.rows(),
                                  .columns = p.columns(),
                                  .count = count,
                                  .partials = memory.data() + 1,
                                  .partial_stride = stride,
                                  .partial_row_stride = row_stride,
                                  .out = outputs[0].data(),
                                  .out_dtype = dtype,
                                  .out_row_stride = outputs[0].row_stride()});
      })[0];
}

TestMatrix Reference(const Problem& p, DType dtype) {
  const ScopedFloatEnv env;
  TestMatrix want(dtype, p.rows(), p.columns());
  for (int64_t i = 0; i < p.rows(); ++i) {
    for (int64_t j = 0; j < p.columns(); ++j) {
      std::vector<float> level;
      for (const TestMatrix& partial : p.partials) {
        level.push_back(static_cast<const float*>(partial.row(i))[j]);
      }
      for (; level.size() > 1; level.resize(level.size() / 2)) {
        for (size_t k = 0; k < level.size() / 2; ++k) {
          level[k] = level[2 * k] + level[2 * k + 1];
        }
      }
      want.Set(i, j, level[0]);
    }
  }
  return want;
}

TEST(SliceTreeRegimesTest, N2N4EveryRegimeAndShapeFollowsTheTree) {
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t columns : kOddExtents) {
        const int64_t count = columns == 31 ? 1 : columns == 65 ? 8 : 4;
        const Problem p = Hostile(count, 66 - columns, columns, regime);
        ExpectSameMatrix(
            Reference(p, dtype), RunEverywhere(p, dtype),
            std::string(NameOf(regime)) + ", " + std::to_string(columns));
      }
    }
  }
}

TEST(SliceTreeRegimesTest, N1RowsAloneGiveWhatTheyGiveInABatch) {
  const Problem all = Hostile(8, 61, 77, Regime::kCancelling);
  for (const DType dtype : kStorageTypes) {
    const TestMatrix whole = RunEverywhere(all, dtype);
    for (const int64_t rows : {1, 17}) {
      Problem part;
      for (const TestMatrix& partial : all.partials) {
        part.partials.push_back(RowsOf(partial, 30, rows));
      }
      ExpectSameRows(whole, 30, RunEverywhere(part, dtype), 0, rows, "alone");
    }
  }
}

}  // namespace
}  // namespace lockstep
