// One pass over whole rows, and a gradient that is made again from it, against
// the three passes of cross_entropy_slices.h.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/cross_entropy/cross_entropy_slices.h"
#include "model/kernels/cross_entropy/cross_entropy_testing.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 24;
constexpr int64_t kVocab = 1203;  // of 8 slices the last two are padding
constexpr int64_t kPadded = 1664;
constexpr double kScale = 64;

using Problem = CrossEntropyProblem;

Problem RandomProblem() { return RandomCrossEntropy(kRows, kVocab, kPadded); }

struct Sums {
  std::vector<float> top = std::vector<float>(kRows, -1);
  std::vector<float> total = top;
};

// Columns from `first` on, as many as dlogits has.
CrossEntropySlicesArgs ColumnsOf(const Problem& p, int64_t first,
                                 int64_t slices, Sums& sums, TestMatrix& logits,
                                 TestMatrix& dlogits) {
  return {.rows = kRows,
          .vocab = kVocab,
          .first = first,
          .columns = dlogits.columns(),
          .slices = slices,
          .logits = logits.as<float>() + first,
          .logits_row_stride = logits.row_stride(),
          .labels = p.labels.data(),
          .mask = p.mask.data(),
          .loss_scale = kScale,
          .top = sums.top.data(),
          .total = sums.total.data(),
          .dlogits_dtype = dlogits.dtype(),
          .dlogits = dlogits.data(),
          .dlogits_row_stride = dlogits.row_stride()};
}

void Whole(Device& device, const Problem& p, int64_t slices, Sums& sums,
           TestMatrix& loss, TestMatrix& dlogits) {
  CrossEntropy(device, {.rows = kRows,
                        .vocab = kVocab,
                        .vocab_padded = kPadded,
                        .logits = static_cast<const float*>(p.logits.data()),
                        .logits_row_stride = p.logits.row_stride(),
                        .labels = p.labels.data(),
                        .mask = p.mask.data(),
                        .loss_scale = kScale,
                        .loss = loss.as<float>(),
                        .dlogits_dtype = dlogits.dtype(),
                        .dlogits = dlogits.data(),
                        .dlogits_row_stride = dlogits.row_stride(),
                        .slices = slices,
                        .top = sums.top.data(),
                        .total = sums.total.data()});
}

TEST(CrossEntropyAgainTest, N4OnePassHasTheBitsOfThree) {
  const Problem p = RandomProblem();
  for (const int64_t slices : {1, 2, 8}) {
    const std::string what = std::to_string(slices) + " slices";
    TestMatrix loss(DType::kF32, kRows, 1, 0);
    TestMatrix dlogits(DType::kBF16, kRows, kPadded);
    TestMatrix logits = p.logits;
    Sums want;
    std::vector<float> target(kRows);
    CrossEntropySlicesArgs args =
        ColumnsOf(p, 0, slices, want, logits, dlogits);
    args.target = target.data();
    args.loss = loss.as<float>();
    Device one(1, BestIsa());
    CrossEntropyTop(one, args);
    CrossEntropySums(one, args);
    CrossEntropyFinish(one, args);
    const auto got = ExpectSameOnEveryDevice(
        {TestMatrix(DType::kF32, kRows, 1, 0),
         TestMatrix(DType::kBF16, kRows, kPadded)},
        [&](Device& device, std::vector<TestMatrix>& outputs) {
          Sums sums;
          Whole(device, p, slices, sums, outputs[0], outputs[1]);
          EXPECT_EQ(sums.top, want.top) << what;
          EXPECT_EQ(sums.total, want.total) << what;
        });
    ExpectSameMatrix(loss, got[0], "loss, " + what);
    ExpectSameMatrix(dlogits, got[1], "dlogits, " + what);
  }
}

// Chunks of columns that no slice knows, the last one beyond the vocabulary.
TEST(CrossEntropyAgainTest, AGradientMadeAgainByChunksIsTheSame) {
  const Problem p = RandomProblem();
  for (const DType dtype : kStorageTypes) {
    TestMatrix loss(DType::kF32, kRows, 1, 0);
    TestMatrix want(dtype, kRows, kPadded, 0);
    Sums sums;
    Device one(1, BestIsa());
    Whole(one, p, 4, sums, loss, want);
    for (const auto& [begin, end] :
         {std::pair{0, 500}, {500, 628}, {628, 1300}, {1300, 1664}}) {
      const auto got = ExpectSameOnEveryDevice(
          {TestMatrix(dtype, kRows, end - begin)},
          [&, first = begin](Device& device, std::vector<TestMatrix>& outputs) {
            TestMatrix logits = p.logits;
            CrossEntropyGradient(
                device, ColumnsOf(p, first, 1, sums, logits, outputs[0]));
          });
      for (int64_t i = 0; i < kRows; ++i) {
        for (int64_t j = begin; j < end; ++j) {
          ASSERT_EQ(got[0].At(i, j - begin), want.At(i, j)) << i << ", " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep
