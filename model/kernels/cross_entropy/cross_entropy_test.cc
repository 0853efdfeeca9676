#include "model/kernels/cross_entropy/cross_entropy.h"

#include <cmath>
#include <limits>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/cross_entropy/cross_entropy_testing.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kRows = 40;
constexpr int64_t kVocab = 2003;
constexpr int64_t kPadded = 2048;
constexpr double kScale = 64;

using Problem = CrossEntropyProblem;

Problem RandomProblem() { return RandomCrossEntropy(kRows, kVocab, kPadded); }

CrossEntropyArgs Args(const Problem& p, TestMatrix& loss, TestMatrix& dlogits) {
  return {p.logits.rows(),
          kVocab,
          kPadded,
          static_cast<const float*>(p.logits.data()),
          p.logits.row_stride(),
          p.labels.data(),
          p.mask.data(),
          kScale,
          loss.as<float>(),
          dlogits.dtype(),
          dlogits.data(),
          dlogits.row_stride()};
}

// loss, dlogits.
std::vector<TestMatrix> RunEverywhere(const Problem& p, DType dtype) {
  return ExpectSameOnEveryDevice(
      {TestMatrix(DType::kF32, p.logits.rows(), 1, 0),
       TestMatrix(dtype, p.logits.rows(), kPadded)},
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        CrossEntropy(device, Args(p, outputs[0], outputs[1]));
      });
}

TEST(CrossEntropyTest, N1N7N8SameBytesEverywhereInTheWrittenOrder) {
  const Problem p = RandomProblem();
  const auto out = RunEverywhere(p, DType::kF32);
  const ScopedFloatEnv env;
  std::vector<TestMatrix> want = out;
  for (int64_t i = 0; i < kRows; ++i) {
    want[0].Set(i, 0, 0.0f);
    for (int64_t j = 0; j < kPadded; ++j) want[1].Set(i, j, 0.0f);
    if (p.mask[i] == 0) continue;
    const float* l = static_cast<const float*>(p.logits.row(i));
    const float top = OrderedMax(l, kVocab);
    std::vector<float> exps(kVocab);
    for (int64_t j = 0; j < kVocab; ++j) exps[j] = math::Exp(l[j] - top);
    const float total = OrderedSum(exps.data(), kVocab);
    want[0].Set(i, 0, math::Log(total) - (l[p.labels[i]] - top));
    for (int64_t j = 0; j < kVocab; ++j) {
      const float onehot = j == p.labels[i] ? 1.0f : 0.0f;
      want[1].Set(i, j,
                  (exps[j] / total - onehot) * static_cast<float>(kScale));
    }
  }
  ExpectSameMatrix(want[0], out[0], "loss");
  ExpectSameMatrix(want[1], out[1], "dlogits");
}

TEST(CrossEntropyTest, N13TheGradientIsRoundedOnce) {
  const Problem p = RandomProblem();
  const auto wide = RunEverywhere(p, DType::kF32);
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const auto narrow = RunEverywhere(p, dtype);
    ExpectSameMatrix(wide[0], narrow[0], "loss");
    ExpectSameMatrix(Converted(wide[1], dtype), narrow[1], "dlogits");
  }
}

TEST(CrossEntropyTest, LossesAloneAndInPlaceAreTheSame) {
  Problem p = RandomProblem();
  const auto want = RunEverywhere(p, DType::kF32);
  Device device(2, BestIsa());
  TestMatrix loss(DType::kF32, kRows, 1, 0);
  CrossEntropyArgs args = Args(p, loss, p.logits);
  args.dlogits = nullptr;
  CrossEntropy(device, args);
  ExpectSameMatrix(want[0], loss, "loss alone");
  CrossEntropy(device, Args(p, loss, p.logits));
  ExpectSameMatrix(want[1], p.logits, "dlogits over logits");
}

TEST(CrossEntropyTest, AFaultInALogitReachesTheLoss) {
  for (const float fault :
       {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Problem p = RandomProblem();
    p.logits.Set(0, 1500, fault);
    const auto out = RunEverywhere(p, DType::kF32);
    EXPECT_TRUE(std::isnan(out[0].At(0, 0)));
    EXPECT_TRUE(std::isfinite(out[0].At(1, 0)));
  }
}

// A logit of 120 and a row near -200 are among them. The loss: an exp of few
// ulps, 50 terms, a log; the sum of the rows is exact here (binary64).
TEST(CrossEntropyTest, MeetsTheOracle) {
  const GoldenFile golden("layers.safetensors");
  const std::vector<int64_t> shape = golden.Shape("cross_entropy/in/logits");
  const int64_t rows = shape[0] * shape[1];
  const int64_t vocab = shape[2];
  const std::vector<float> in = golden.Floats("cross_entropy/in/logits");
  const std::vector<int32_t> labels = golden.Ints("cross_entropy/in/labels");
  std::vector<uint8_t> mask;
  for (const int32_t m : golden.Ints("cross_entropy/in/mask")) {
    mask.push_back(static_cast<uint8_t>(m));
  }
  std::vector<float> loss(rows), dlogits(rows * vocab);
  Device device(1, BestIsa());
  CrossEntropy(
      device, {rows, vocab, vocab, in.data(), vocab, labels.data(), mask.data(),
               1.0, loss.data(), DType::kF32, dlogits.data(), vocab});
  double sum = 0;
  for (const float value : loss) sum += value;
  const double want = golden.Doubles("cross_entropy/out")[0];
  EXPECT_LE(std::abs(sum - want), 8 * 0x1p-24 * want);
  ExpectNearRows(dlogits.data(), golden.Doubles("cross_entropy/grads/logits"),
                 golden.Shape("cross_entropy/grads/logits").back(), 16,
                 "dlogits");
}

TEST(CrossEntropyDeathTest, ALabelOutsideTheVocabularyIsABug) {
  Problem p = RandomProblem();
  p.labels[1] = kVocab;
  TestMatrix loss(DType::kF32, kRows, 1, 0);
  TestMatrix dlogits(DType::kF32, kRows, kPadded);
  Device device(1, Isa::kScalar);
  EXPECT_DEATH(CrossEntropy(device, Args(p, loss, dlogits)),
               "label 2003 of row 1");
}

}  // namespace
}  // namespace lockstep
