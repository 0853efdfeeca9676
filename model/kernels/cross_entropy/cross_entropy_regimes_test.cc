// N1, N4, N7, N8: the formulas of cross_entropy.h, byte for byte, on hostile
// logits and odd vocabularies, alone and in a batch, and that their order
// shows.

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
// Some columns of padding, and four slices (N4) of as many columns each.
int64_t Padded(int64_t vocab) { return (vocab + 6) / 4 * 4; }

CrossEntropyProblem Hostile(int64_t rows, int64_t vocab, Regime regime) {
  CrossEntropyProblem p = RandomCrossEntropy(rows, vocab, Padded(vocab));
  const std::vector<float> logits = RegimeFloats(rows * vocab, regime, 1);
  for (int64_t i = 0; i < rows * vocab; ++i) {
    p.logits.Set(i / vocab, i % vocab, logits[i]);
  }
  return p;
}

// loss, dlogits.
std::vector<TestMatrix> RunEverywhere(const CrossEntropyProblem& p,
                                      int64_t vocab, DType dtype,
                                      int64_t slices = 1) {
  const int64_t rows = p.logits.rows(), padded = p.logits.columns();
  return ExpectSameOnEveryDevice(
      {TestMatrix(DType::kF32, rows, 1, 0), TestMatrix(dtype, rows, padded)},
      [&](Device& device, std::vector<TestMatrix>& out) {
        CrossEntropy(device,
                     {.rows = rows,
                      .vocab = vocab,
                      .vocab_padded = padded,
                      .logits = static_cast<const float*>(p.logits.data()),
                      .logits_row_stride = p.logits.row_stride(),
                      .labels = p.labels.data(),
                      .mask = p.mask.data(),
                      .loss_scale = kScale,
                      .loss = out[0].as<float>(),
                      .dlogits_dtype = dtype,
                      .dlogits = out[1].data(),
                      .dlogits_row_stride = out[1].row_stride(),
                      .slices = slices});
      });
}

float SumOf(const std::vector<float>& exps, int64_t slices) {
  const int64_t width = static_cast<int64_t>(exps.size()) / slices;
  if (slices == 1) return OrderedSum(exps.data(), width);
  float sum[4];
  for (int64_t s = 0; s < 4; ++s) {
    sum[s] = OrderedSum(exps.data() + s * width, width);
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

std::vector<TestMatrix> Reference(const CrossEntropyProblem& p, int64_t vocab,
                                  DType dtype, int64_t slices) {
  const ScopedFloatEnv env;
  const int64_t padded = p.logits.columns();
  std::vector<TestMatrix> want = {
      TestMatrix(DType::kF32, p.logits.rows(), 1, 0),
      TestMatrix(dtype, p.logits.rows(), padded)};
  for (TestMatrix& matrix : want) matrix.Poison(0);
  for (int64_t i = 0; i < p.logits.rows(); ++i) {
    if (p.mask[i] == 0) continue;
    const auto* l = static_cast<const float*>(p.logits.row(i));
    const float top = OrderedMax(l, vocab);
    std::vector<float> exps(padded, 0.0f);
    for (int64_t j = 0; j < vocab; ++j) exps[j] = math::Exp(l[j] - top);
    const float total = SumOf(exps, slices);
    want[0].Set(i, 0, math::Log(total) - (l[p.labels[i]] - top));
    for (int64_t j = 0; j < vocab; ++j) {
      const float onehot = j == p.labels[i] ? 1.0f : 0.0f;
      want[1].Set(i, j,
                  (exps[j] / total - onehot) * static_cast<float>(kScale));
    }
  }
  return want;
}

TEST(CrossEntropyRegimesTest, N1N2N4N7N8EveryRegimeAndShapeIsTheFormulas) {
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t vocab : kOddExtents) {
        const CrossEntropyProblem p = Hostile(66 - vocab, vocab, regime);
        const int64_t slices = vocab % 4 == 3 ? 4 : 1;
        const auto want = Reference(p, vocab, dtype, slices);
        const auto got = RunEverywhere(p, vocab, dtype, slices);
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
  const auto whole = RunEverywhere(all, 501, DType::kBF16);
  for (const int64_t rows : {1, 17}) {
    const CrossEntropyProblem part = {
        RowsOf(all.logits, 21, rows),
        {all.labels.begin() + 21, all.labels.begin() + 21 + rows},
        {all.mask.begin() + 21, all.mask.begin() + 21 + rows}};
    const auto alone = RunEverywhere(part, 501, DType::kBF16);
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
