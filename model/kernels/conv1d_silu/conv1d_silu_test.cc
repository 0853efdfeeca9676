#include "model/kernels/conv1d_silu/conv1d_silu.h"

#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/conv1d_silu/conv1d_silu_testing.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kBatch = 4;
constexpr int64_t kTokens = 45;     // leaves of 45 and 90: no multiple of 32
constexpr int64_t kChannels = 300;  // blocks of 128, 128 and 44

using Problem = ConvProblem;

Problem RandomProblem(DType dtype, int64_t samples_per_leaf) {
  return {kBatch,
          RandomMatrix(dtype, kBatch * kTokens, kChannels, 1, -2, 2),
          RandomMatrix(dtype, kBatch * kTokens, kChannels, 2),
          RandomFloats(kChannels * 4, 3),
          RandomFloats(kChannels, 4),
          {},
          samples_per_leaf};
}

// Documents that begin within a tap's reach of one another.
std::vector<int32_t> Documents() {
  std::vector<int32_t> segments(kBatch * kTokens);
  for (int64_t i = 0; i < kBatch; ++i) {
    int32_t segment = 0;
    for (int64_t t = 0; t < kTokens; ++t) {
      if (i > 0 && (t == 10 || t == 12 || t == 13 || t == 44)) ++segment;
      segments[i * kTokens + t] = segment;
    }
  }
  return segments;
}

TEST(Conv1dSiluTest, N1N7SameBytesEverywhereInTheWrittenOrder) {
  for (const DType dtype : kStorageTypes) {
    const Problem p = RandomProblem(dtype, dtype == DType::kF32 ? 1 : 2);
    ExpectConvReference(p, RunConvEverywhere(p));
  }
}

TEST(Conv1dSiluTest, N14DocumentsDoNotSeeEachOther) {
  Problem p = RandomProblem(DType::kBF16, 1);
  const auto without = RunConvEverywhere(p);
  p.segments = Documents();
  const auto with = RunConvEverywhere(p);
  ExpectConvReference(p, with);
  ExpectSameRows(without[0], 0, with[0], 0, kTokens + 10, "before a document");
  int64_t moved = 0;
  for (int64_t c = 0; c < kChannels; ++c) {
    moved += without[0].At(kTokens + 10, c) != with[0].At(kTokens + 10, c);
  }
  EXPECT_GT(moved, kChannels / 2) << "the test could not fail";
}

// A document is a sample of its own: same outputs, same input gradient.
TEST(Conv1dSiluTest, N14ADocumentGivesWhatItGivesAsASample) {
  Problem p = RandomProblem(DType::kF32, 1);
  p.segments = Documents();
  const auto packed = RunConvEverywhere(p);
  const int64_t first = kTokens + 13;
  const int64_t tokens = 44 - 13;
  Device device(2, BestIsa());
  Problem alone{1,
                TestMatrix(DType::kF32, tokens, kChannels),
                TestMatrix(DType::kF32, tokens, kChannels),
                p.weight,
                p.bias,
                {},
                1};
  for (int64_t t = 0; t < tokens; ++t) {
    for (int64_t c = 0; c < kChannels; ++c) {
      alone.x.Set(t, c, static_cast<float>(p.x.At(first + t, c)));
      alone.dy.Set(t, c, static_cast<float>(p.dy.At(first + t, c)));
    }
  }
  std::vector<TestMatrix> out = ConvOutputs(alone);
  RunConv(device, alone, out);
  ExpectSameRows(packed[0], first, out[0], 0, tokens, "y");
  ExpectSameRows(packed[1], first, out[1], 0, tokens, "dx");
}

TEST(Conv1dSiluTest, SamplesShorterThanTheTaps) {
  for (const int64_t tokens : {1, 2, 3}) {
    const Problem p{2,
                    RandomMatrix(DType::kF32, 2 * tokens, 19, 5),
                    RandomMatrix(DType::kF32, 2 * tokens, 19, 6),
                    RandomFloats(19 * 4, 7),
                    RandomFloats(19, 8),
                    {},
                    1};
    ExpectConvReference(p, RunConvEverywhere(p));
  }
}

// Five operations before the sigmoid, a few after; the parameter gradients add
// 74 terms in chains of 32.
TEST(Conv1dSiluTest, MeetsTheOracle) {
  const GoldenFile golden("layers.safetensors");
  const std::vector<int64_t> shape = golden.Shape("conv_silu/in/x");
  const int64_t batch = shape[0], tokens = shape[1], c = shape[2];
  const std::vector<float> in = golden.Floats("conv_silu/in/x");
  const std::vector<float> dy = golden.Floats("conv_silu/cotangent");
  const std::vector<float> weight = golden.Floats("conv_silu/in/weight");
  const std::vector<float> bias = golden.Floats("conv_silu/in/bias");
  std::vector<float> y(in.size()), dx(in.size()), dweight(c * 4), dbias(c);
  Device device(1, BestIsa());
  Conv1dSiluForward(device, {batch, tokens, c, DType::kF32, in.data(), c,
                             weight.data(), bias.data(), y.data(), c});
  Conv1dSiluBackward(
      device, {batch, tokens, c, batch, DType::kF32, dy.data(), c, in.data(), c,
               weight.data(), bias.data(), nullptr, dx.data(), c,
               dweight.data(), dbias.data()});
  ExpectNearRows(y.data(), golden.Doubles("conv_silu/out"),
                 golden.Shape("conv_silu/out").back(), 16, "y");
  ExpectNearRows(dx.data(), golden.Doubles("conv_silu/grads/x"),
                 golden.Shape("conv_silu/grads/x").back(), 24, "dx");
  ExpectNearRows(dweight.data(), golden.Doubles("conv_silu/grads/weight"),
                 golden.Shape("conv_silu/grads/weight").back(), 64, "dweight");
  ExpectNearRows(dbias.data(), golden.Doubles("conv_silu/grads/bias"),
                 golden.Shape("conv_silu/grads/bias").back(), 64, "dbias");
}

}  // namespace
}  // namespace lockstep
