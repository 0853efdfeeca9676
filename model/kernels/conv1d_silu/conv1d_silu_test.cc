#include "model/kernels/conv1d_silu/conv1d_silu.h"

#include <cmath>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kBatch = 4;
constexpr int64_t kTokens = 45;     // leaves of 45 and 90: no multiple of 32
constexpr int64_t kChannels = 300;  // blocks of 128, 128 and 44

struct Problem {
  int64_t batch;
  TestMatrix x, dy;
  std::vector<float> weight, bias;
  std::vector<int32_t> segments;  // empty: none
  int64_t samples_per_leaf;

  int64_t tokens() const { return x.rows() / batch; }
  int64_t channels() const { return x.columns(); }
  const int32_t* segment_data() const {
    return segments.empty() ? nullptr : segments.data();
  }
};

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

// y, dx, dweight, dbias.
std::vector<TestMatrix> Outputs(const Problem& p) {
  const TestMatrix like(p.x.dtype(), p.x.rows(), p.channels());
  const int64_t leaves = p.batch / p.samples_per_leaf;
  return {like, like, TestMatrix(DType::kF32, leaves, p.channels() * 4, 0),
          TestMatrix(DType::kF32, leaves, p.channels(), 0)};
}

void RunOn(Device& device, const Problem& p, std::vector<TestMatrix>& out) {
  Conv1dSiluForward(
      device, {p.batch, p.tokens(), p.channels(), p.x.dtype(), p.x.data(),
               p.x.row_stride(), p.weight.data(), p.bias.data(), out[0].data(),
               out[0].row_stride(), p.segment_data()});
  Conv1dSiluBackward(
      device,
      {p.batch, p.tokens(), p.channels(), p.samples_per_leaf, p.x.dtype(),
       p.dy.data(), p.dy.row_stride(), p.x.data(), p.x.row_stride(),
       p.weight.data(), p.bias.data(), p.segment_data(), out[1].data(),
       out[1].row_stride(), out[2].as<float>(), out[3].as<float>()});
}

std::vector<TestMatrix> RunEverywhere(const Problem& p) {
  return ExpectSameOnEveryDevice(
      Outputs(p), [&](Device& device, std::vector<TestMatrix>& outputs) {
        RunOn(device, p, outputs);
      });
}

// The contract of the header, one number at a time.
class Reference {
 public:
  explicit Reference(const Problem& p) : p_(p) {}

  float Pre(int64_t row, int64_t c) const {
    float sum = p_.bias[c];
    for (int64_t k = 0; k < 4; ++k) {
      if (!Reads(row - 3 + k, row)) continue;
      sum = std::fma(p_.weight[c * 4 + k], X(row - 3 + k, c), sum);
    }
    return sum;
  }
  float PreGradient(int64_t row, int64_t c) const {
    const float pre = Pre(row, c);
    const float sg = math::Sigmoid(pre);
    return static_cast<float>(p_.dy.At(row, c)) *
           (sg * (1.0f + pre * (1.0f - sg)));
  }
  float InputGradient(int64_t row, int64_t c) const {
    float sum = 0;
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t reader = row + 3 - k;
      if (reader >= p_.x.rows() || !Reads(row, reader)) continue;
      sum = std::fma(p_.weight[c * 4 + k], PreGradient(reader, c), sum);
    }
    return sum;
  }
  // k = 4 is the bias.
  float ParameterGradient(int64_t leaf, int64_t c, int64_t k) const {
    const int64_t rows = p_.samples_per_leaf * p_.tokens();
    float total = 0;
    float chain = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = leaf * rows + r;
      if (k == 4) {
        chain += PreGradient(row, c);
      } else if (Reads(row - 3 + k, row)) {
        chain += PreGradient(row, c) * X(row - 3 + k, c);
      }
      if (r % 32 == 31 || r == rows - 1) {
        total += chain;
        chain = 0;
      }
    }
    return total;
  }

 private:
  float X(int64_t row, int64_t c) const {
    return static_cast<float>(p_.x.At(row, c));
  }
  bool Reads(int64_t from, int64_t row) const {
    if (from < 0 || from / p_.tokens() != row / p_.tokens()) return false;
    return p_.segments.empty() || p_.segments[from] == p_.segments[row];
  }
  const Problem& p_;
};

void ExpectReference(const Problem& p, const std::vector<TestMatrix>& out) {
  const ScopedFloatEnv env;
  const Reference reference(p);
  std::vector<TestMatrix> want = Outputs(p);
  for (int64_t c = 0; c < p.channels(); ++c) {
    for (int64_t row = 0; row < p.x.rows(); ++row) {
      const float pre = reference.Pre(row, c);
      want[0].Set(row, c, pre * math::Sigmoid(pre));
      want[1].Set(row, c, reference.InputGradient(row, c));
    }
    for (int64_t leaf = 0; leaf < p.batch / p.samples_per_leaf; ++leaf) {
      for (int64_t k = 0; k < 4; ++k) {
        want[2].Set(leaf, c * 4 + k, reference.ParameterGradient(leaf, c, k));
      }
      want[3].Set(leaf, c, reference.ParameterGradient(leaf, c, 4));
    }
  }
  for (int i = 0; i < 4; ++i) {
    ExpectSameMatrix(want[i], out[i], "output " + std::to_string(i));
  }
}

TEST(Conv1dSiluTest, N1N7SameBytesEverywhereInTheWrittenOrder) {
  for (const DType dtype : kStorageTypes) {
    const Problem p = RandomProblem(dtype, dtype == DType::kF32 ? 1 : 2);
    ExpectReference(p, RunEverywhere(p));
  }
}

TEST(Conv1dSiluTest, N14DocumentsDoNotSeeEachOther) {
  Problem p = RandomProblem(DType::kBF16, 1);
  const auto without = RunEverywhere(p);
  p.segments = Documents();
  const auto with = RunEverywhere(p);
  ExpectReference(p, with);
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
  const auto packed = RunEverywhere(p);
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
  std::vector<TestMatrix> out = Outputs(alone);
  RunOn(device, alone, out);
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
    ExpectReference(p, RunEverywhere(p));
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
