#include "model/kernels/cross_entropy/cross_entropy_slices.h"

#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
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

// One share of the columns: its numbers a row, and its part of dlogits.
struct Share {
  std::vector<float> top = std::vector<float>(kRows, -1);
  std::vector<float> total = top, target = top;
};

CrossEntropySlicesArgs Args(const Problem& p, int64_t first, int64_t columns,
                            int64_t slices, Share& share, TestMatrix& logits,
                            TestMatrix& loss, TestMatrix& dlogits) {
  return {kRows,
          kVocab,
          first,
          columns,
          slices,
          logits.as<float>() + first,
          logits.row_stride(),
          p.labels.data(),
          p.mask.data(),
          kScale,
          share.top.data(),
          share.total.data(),
          share.target.data(),
          loss.as<float>(),
          dlogits.dtype(),
          static_cast<std::byte*>(dlogits.data()) +
              first * static_cast<int64_t>(SizeOf(dlogits.dtype())),
          dlogits.row_stride()};
}

// Neighbours first, as the tree does.
float Join(std::vector<float> level, bool sum) {
  for (; level.size() > 1; level.resize(level.size() / 2)) {
    for (size_t i = 0; i < level.size() / 2; ++i) {
      const float a = level[2 * i], b = level[2 * i + 1];
      level[i] = sum ? a + b : OrderedMaxStep(a, b);
    }
  }
  return level[0];
}

// What a communicator does, for shares in this process.
void Exchange(std::vector<Share>& shares, std::vector<float> Share::*field,
              bool sum) {
  const ScopedFloatEnv env;
  for (int64_t row = 0; row < kRows; ++row) {
    std::vector<float> each;
    for (Share& share : shares) each.push_back((share.*field)[row]);
    for (Share& share : shares) (share.*field)[row] = Join(each, sum);
  }
}

// loss, dlogits: `degree` shares of a grid of `slices`, one after the other.
void RunShares(Device& device, const Problem& p, int64_t degree, int64_t slices,
               std::vector<TestMatrix>& out) {
  TestMatrix logits = p.logits;
  std::vector<Share> shares(static_cast<size_t>(degree));
  const int64_t columns = kPadded / degree;
  const auto each = [&](auto pass) {
    for (int64_t r = 0; r < degree; ++r) {
      pass(device,
           Args(p, r * columns, columns, slices / degree,
                shares[static_cast<size_t>(r)], logits, out[0], out[1]));
    }
  };
  each(CrossEntropyTop);
  Exchange(shares, &Share::top, false);
  each(CrossEntropySums);
  Exchange(shares, &Share::total, true);
  Exchange(shares, &Share::target, true);
  each(CrossEntropyFinish);
}

std::vector<TestMatrix> RunEverywhere(const Problem& p, DType dtype,
                                      int64_t degree, int64_t slices) {
  return ExpectSameOnEveryDevice(
      {TestMatrix(DType::kF32, kRows, 1, 0), TestMatrix(dtype, kRows, kPadded)},
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunShares(device, p, degree, slices, outputs);
      });
}

// N4 word for word for one row: [loss, dlogits...].
std::vector<float> ReferenceRow(const Problem& p, int64_t row, int64_t slices) {
  const ScopedFloatEnv env;
  std::vector<float> exps(kPadded, 0.0f);
  const float* l = static_cast<const float*>(p.logits.row(row));
  const float top = OrderedMax(l, kVocab);
  for (int64_t j = 0; j < kVocab; ++j) exps[j] = math::Exp(l[j] - top);
  std::vector<float> sums;
  for (int64_t s = 0; s < slices; ++s) {
    sums.push_back(
        OrderedSum(exps.data() + s * (kPadded / slices), kPadded / slices));
  }
  const float total = Join(sums, true);
  std::vector<float> want = {math::Log(total) - (l[p.labels[row]] - top)};
  for (int64_t j = 0; j < kPadded; ++j) {
    const float onehot = j == p.labels[row] ? 1.0f : 0.0f;
    want.push_back(j >= kVocab ? 0.0f
                               : (exps[j] / total - onehot) *
                                     static_cast<float>(kScale));
  }
  return want;
}

TEST(CrossEntropySlicesTest, N4EveryDegreeGivesTheBitsOfTheWrittenTree) {
  const Problem p = RandomProblem();
  for (const int64_t slices : {1, 4, 8}) {
    TestMatrix loss(DType::kF32, kRows, 1, 0);
    TestMatrix dlogits(DType::kF32, kRows, kPadded);
    for (int64_t i = 0; i < kRows; ++i) {
      const std::vector<float> want =
          p.mask[i] ? ReferenceRow(p, i, slices)
                    : std::vector<float>(kPadded + 1, 0.0f);
      loss.Set(i, 0, want[0]);
      for (int64_t j = 0; j < kPadded; ++j) {
        dlogits.Set(i, j, want[static_cast<size_t>(j + 1)]);
      }
    }
    for (int64_t degree = 1; degree <= slices; degree *= 2) {
      const auto got = RunEverywhere(p, DType::kF32, degree, slices);
      const std::string what = std::to_string(degree) + " ranks";
      ExpectSameMatrix(loss, got[0], "loss, " + what);
      ExpectSameMatrix(dlogits, got[1], "dlogits, " + what);
    }
  }
}

TEST(CrossEntropySlicesTest, OneSliceGivesTheBitsOfTheWholeRow) {
  const Problem p = RandomProblem();
  for (const DType dtype : kStorageTypes) {
    const auto got = RunEverywhere(p, dtype, 1, 1);
    TestMatrix loss(DType::kF32, kRows, 1, 0);
    TestMatrix dlogits(dtype, kRows, kPadded);
    Device device(1, BestIsa());
    CrossEntropy(
        device,
        {kRows, kVocab, kPadded, static_cast<const float*>(p.logits.data()),
         p.logits.row_stride(), p.labels.data(), p.mask.data(), kScale,
         loss.as<float>(), dtype, dlogits.data(), dlogits.row_stride()});
    ExpectSameMatrix(loss, got[0], "loss");
    ExpectSameMatrix(dlogits, got[1], "dlogits");
  }
}

TEST(CrossEntropySlicesTest, N13TheGradientIsRoundedOnceAndMayLieOverLogits) {
  const Problem p = RandomProblem();
  const auto wide = RunEverywhere(p, DType::kF32, 2, 4);
  const auto narrow = RunEverywhere(p, DType::kBF16, 2, 4);
  ExpectSameMatrix(Converted(wide[1], DType::kBF16), narrow[1], "dlogits");
  Device device(2, BestIsa());
  TestMatrix logits = p.logits;
  TestMatrix loss(DType::kF32, kRows, 1, 0);
  Share share;
  const auto args = Args(p, 0, kPadded, 4, share, logits, loss, logits);
  CrossEntropyTop(device, args);
  CrossEntropySums(device, args);
  CrossEntropyFinish(device, args);
  ExpectSameMatrix(wide[1], logits, "dlogits over logits");
}

// The canary: slices are part of the order, so their number shows.
TEST(CrossEntropySlicesTest, N4TheNumberOfSlicesShows) {
  const Problem p = RandomProblem();
  int64_t differing = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    if (p.mask[i] == 0) continue;
    differing += ReferenceRow(p, i, 1) != ReferenceRow(p, i, 8) ? 1 : 0;
  }
  EXPECT_GT(differing, kRows / 8);
}

}  // namespace
}  // namespace lockstep
