// N1, N7, N8: the formulas of cross_entropy.h, byte for byte, on hostile logits
// and odd vocabularies, alone and in a batch, and that their order shows.

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
#include "model/kernels/regimes.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr double kScale = 64;
constexpr int64_t kPadding = 3;

CrossEntropyProblem Hostile(int64_t rows, int64_t vocab, Regime regime) {
  CrossEntropyProblem p = RandomCrossEntropy(rows, vocab, vocab + kPadding);
  const std::vector<float> logits = RegimeFloats(rows * vocab, regime, 1);
  for (int64_t i = 0; i < rows * vocab; ++i) {
    p.logits.Set(i / vocab, i % vocab, logits[i]);
  }
  return p;
}

// loss, dlogits.
std::vector<TestMatrix> RunEverywhere(const CrossEntropyProblem& p,
                                      DType dtype) {
  const int64_t rows = p.logits.rows(), padded = p.logits.columns();
  return ExpectSameOnEveryDevice(
      {TestMatrix(DType::kF32, rows, 1, 0), TestMatrix(dtype, rows, padded)},
      [&](Device& device, std::vector<TestMatrix>& out) {
        CrossEntropy(device, {rows, padded - kPadding, padded,
                              static_cast<const float*>(p.logits.data()),
                              p.logits.row_stride(), p.labels.data(),
                              p.mask.data(), kScale, out[0].as<float>(), dtype,
                              out[1].data(), out[1].row_stride()});
      });
}

std::vector<TestMatrix> Reference(const CrossEntropyProblem& p, DType dtype) {
  const ScopedFloatEnv env;
  const int64_t padded = p.logits.columns(), vocab = padded - kPadding;
  std::vector<TestMatrix> want = {
      TestMatrix(DType::kF32, p.logits.rows(), 1, 0),
      TestMatrix(dtype, p.logits.rows(), padded)};
  for (TestMatrix& matrix : want) matrix.Poison(0);
  for (int64_t i = 0; i < p.logits.rows(); ++i) {
    if (p.mask[i] == 0) continue;
    const auto* l = static_cast<const float*>(p.logits.row(i));
    const float top = OrderedMax(l, vocab);
    std::vector<float> exps(vocab);
    for (int64_t j = 0; j < vocab; ++j) exps[j] = math::Exp(l[j] - top);
    const float total = OrderedSum(exps.data(), vocab);
    want[0].Set(i, 0, math::Log(total) - (l[p.labels[i]] - top));
    for (int64_t j = 0; j < vocab; ++j) {
      const float onehot = j == p.labels[i] ? 1.0f : 0.0f;
      want[1].Set(i, j,
                  (exps[j] / total - onehot) * static_cast<float>(kScale));
    }
  }
  return want;
}

TEST(CrossEntropyRegimesTest, N1N2N7N8EveryRegimeAndShapeIsTheFormulas) {
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t vocab : kOddExtents) {
        const CrossEntropyProblem p = Hostile(66 - vocab, vocab, regime);
        const auto want = Reference(p, dtype);
        const auto got = RunEverywhere(p, dtype);
        const std::string what =
            std::string(NameOf(regime)) + ", " + std::to_string(vocab);
        ExpectSameMatrix(want[0], got[0], "loss, " + what);
        ExpectSameMatrix(want[1], got[1], "dlogits, " + what);
      }
    }
  }
}

TEST(CrossEntropyRegimesTest, N1RowsAloneGiveWhatTheyGiveInABatch) {
  const CrossEntropyProblem all = Hostile(40, 501, Regime::kUniform);
  const auto whole = RunEverywhere(all, DType::kBF16);
  for (const int64_t rows : {1, 17}) {
    const CrossEntropyProblem part = {
        RowsOf(all.logits, 21, rows),
        {all.labels.begin() + 21, all.labels.begin() + 21 + rows},
        {all.mask.begin() + 21, all.mask.begin() + 21 + rows}};
    const auto alone = RunEverywhere(part, DType::kBF16);
    ExpectSameRows(whole[0], 21, alone[0], 0, rows, "loss");
    ExpectSameRows(whole[1], 21, alone[1], 0, rows, "dlogits");
  }
}

// The canary: a chain over the vocabulary differs.
TEST(CrossEntropyRegimesTest, N7AnotherOrderDiffers) {
  const ScopedFloatEnv env;
  const CrossEntropyProblem p = Hostile(40, 501, Regime::kUniform);
  int64_t differing = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const auto* l = static_cast<const float*>(p.logits.row(i));
    std::vector<float> exps(501);
    float chain = 0;
    for (int64_t j = 0; j < 501; ++j) chain += exps[j] = math::Exp(l[j]);
    differing += chain != OrderedSum(exps.data(), 501) ? 1 : 0;
  }
  EXPECT_GT(differing, 20);
}

}  // namespace
}  // namespace lockstep
