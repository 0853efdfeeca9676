#include "model/kernels/embedding/embedding.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kVocab = 37;
constexpr int64_t kRows = 600;
constexpr int64_t kWidth = 301;

// Ids as text has them: id 5 in every third row, ids from 30 on never.
std::vector<int32_t> Ids() {
  const std::vector<float> draws = RandomFloats(kRows, 7, 0, 30);
  std::vector<int32_t> ids(kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    ids[i] = i % 3 == 0 ? 5 : static_cast<int32_t>(draws[i]);
  }
  return ids;
}

EmbeddingBackwardArgs BackwardArgs(const TestMatrix& dout,
                                   const std::vector<int32_t>& ids,
                                   int64_t rows_per_leaf, float* dtable) {
  return {
      dout.rows(), dout.columns(),    kVocab,     rows_per_leaf, dout.dtype(),
      dout.data(), dout.row_stride(), ids.data(), dtable,        std::nullopt};
}

// The written order, one number at a time.
TestMatrix Reference(const TestMatrix& dout, const std::vector<int32_t>& ids,
                     int64_t rows_per_leaf, const TestMatrix& start) {
  TestMatrix dtable = start;
  for (int64_t leaf = 0; leaf < dout.rows(); leaf += rows_per_leaf) {
    for (int32_t id = 0; id < kVocab; ++id) {
      for (int64_t j = 0; j < dout.columns(); ++j) {
        float chain = 0;
        bool occurs = false;
        for (int64_t row = leaf; row < leaf + rows_per_leaf; ++row) {
          if (ids[row] != id) continue;
          occurs = true;
          chain += static_cast<float>(dout.At(row, j));
        }
        if (!occurs) continue;
        dtable.Set(id, j, static_cast<float>(dtable.At(id, j)) + chain);
      }
    }
  }
  return dtable;
}

TEST(EmbeddingTest, ForwardCopiesRows) {
  const std::vector<int32_t> ids = Ids();
  for (const DType dtype : kStorageTypes) {
    TestMatrix table(dtype, kVocab, kWidth, 0);
    for (int64_t i = 0; i < kVocab * kWidth; ++i) {
      table.Set(i / kWidth, i % kWidth, static_cast<float>(i % 1999) - 999);
    }
    const auto out = ExpectSameOnEveryDevice(
        {TestMatrix(dtype, kRows, kWidth)},
        [&](Device& device, std::vector<TestMatrix>& outputs) {
          EmbeddingForward(
              device, {kRows, kWidth, kVocab, dtype, table.data(), ids.data(),
                       outputs[0].data(), outputs[0].row_stride()});
        });
    for (int64_t i = 0; i < kRows; ++i) {
      ExpectSameRows(table, ids[i], out[0], i, 1, "row");
    }
  }
}

TEST(EmbeddingTest, N5BackwardFollowsTheWrittenOrder) {
  const std::vector<int32_t> ids = Ids();
  TestMatrix start(DType::kF32, kVocab, kWidth, 0);
  const std::vector<float> values = RandomFloats(kVocab * kWidth, 8);
  std::copy(values.begin(), values.end(), start.as<float>());
  for (const DType dtype : kStorageTypes) {
    const TestMatrix dout = RandomMatrix(dtype, kRows, kWidth, 9);
    for (const int64_t rows_per_leaf : {100, 600}) {
      const auto out = ExpectSameOnEveryDevice(
          {start}, [&](Device& device, std::vector<TestMatrix>& outputs) {
            float* dtable = outputs[0].as<float>();
            std::copy(values.begin(), values.end(), dtable);
            EmbeddingBackward(device,
                              BackwardArgs(dout, ids, rows_per_leaf, dtable));
          });
      ExpectSameMatrix(Reference(dout, ids, rows_per_leaf, start), out[0],
                       "dtable");
      ExpectSameRows(start, 30, out[0], 30, kVocab - 30, "ids never met");
    }
  }
}

TEST(EmbeddingTest, N1LeavesInSeveralCallsAddUpTheSame) {
  const std::vector<int32_t> ids = Ids();
  const TestMatrix dout = RandomMatrix(DType::kBF16, kRows, kWidth, 10);
  Device device(2, BestIsa());
  TestMatrix together(DType::kF32, kVocab, kWidth, 0);
  TestMatrix apart = together;
  together.Poison(0);
  apart.Poison(0);
  EmbeddingBackward(device, BackwardArgs(dout, ids, 200, together.as<float>()));
  for (int64_t row = 0; row < kRows; row += 200) {
    EmbeddingBackward(device,
                      {200, kWidth, kVocab, 200, DType::kBF16, dout.row(row),
                       dout.row_stride(), ids.data() + row, apart.as<float>()});
  }
  ExpectSameMatrix(together, apart, "three calls of a leaf");
}

// Three ranks' rows: every output row has bits on one rank, every gradient is
// that of the whole table.
TEST(EmbeddingTest, N4RowsAreSelectedFromWhoeverHasThem) {
  const std::vector<int32_t> ids = Ids();
  const TestMatrix table = RandomMatrix(DType::kBF16, kVocab, kWidth, 3);
  const TestMatrix dout = RandomMatrix(DType::kBF16, kRows, kWidth, 9);
  TestMatrix whole(DType::kF32, kVocab, kWidth, 0);
  whole.Poison(0);
  Device device(2, BestIsa());
  EmbeddingBackward(device, BackwardArgs(dout, ids, 200, whole.as<float>()));
  int64_t selected = 0;
  for (const EmbeddingRows held :
       {EmbeddingRows{0, 5}, EmbeddingRows{5, 20}, EmbeddingRows{20, kVocab}}) {
    TestMatrix rows(DType::kBF16, held.end - held.begin, kWidth, 0);
    for (int64_t i = 0; i < rows.rows() * kWidth; ++i) {
      rows.Set(
          i / kWidth, i % kWidth,
          static_cast<float>(table.At(held.begin + i / kWidth, i % kWidth)));
    }
    TestMatrix dtable(DType::kF32, rows.rows(), kWidth, 0);
    const auto out = ExpectSameOnEveryDevice(
        {TestMatrix(DType::kBF16, kRows, kWidth), dtable},
        [&](Device& on, std::vector<TestMatrix>& outputs) {
          EmbeddingForward(
              on, {kRows, kWidth, kVocab, DType::kBF16, rows.data(), ids.data(),
                   outputs[0].data(), outputs[0].row_stride(), held});
          std::fill_n(outputs[1].as<float>(), rows.rows() * kWidth, 0.0f);
          EmbeddingBackwardArgs args =
              BackwardArgs(dout, ids, 200, outputs[1].as<float>());
          args.held = held;
          EmbeddingBackward(on, args);
        });
    TestMatrix none(DType::kBF16, 1, kWidth);
    none.Poison(0);
    for (int64_t i = 0; i < kRows; ++i) {
      const bool here = held.begin <= ids[i] && ids[i] < held.end;
      selected += here ? 1 : 0;
      ExpectSameRows(here ? table : none, here ? ids[i] : 0, out[0], i, 1,
                     "row");
    }
    ExpectSameRows(whole, held.begin, out[1], 0, rows.rows(), "dtable");
  }
  EXPECT_EQ(selected, kRows);
}

TEST(EmbeddingDeathTest, AnIdOutsideTheVocabularyIsABug) {
  Device device(1, Isa::kScalar);
  const int32_t id = kVocab;
  const float table[kVocab] = {};
  float out = 0;
  EXPECT_DEATH(EmbeddingForward(
                   device, {1, 1, kVocab, DType::kF32, table, &id, &out, 1}),
               "id 37 of row 0");
}

}  // namespace
}  // namespace lockstep
