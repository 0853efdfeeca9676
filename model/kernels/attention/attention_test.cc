#include "model/kernels/attention/attention.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "gtest/gtest.h"
#include "model/kernels/attention/attention_testing.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/kernel_testing.h"

namespace lockstep {
namespace {

constexpr double kEpsF32 = 0x1p-24;
constexpr double kEpsBF16 = 0x1p-8;

double EpsOf(DType dtype) {
  if (dtype == DType::kBF16) return kEpsBF16;
  return dtype == DType::kF16 ? 0x1p-11 : kEpsF32;
}

// Softmax in float64 with autograd is the truth. A score of 2^7 has an absolute
// error of 2^7 roundings, which exp turns into a relative one. In bf16 inputs
// are rounded too, so there it is loose.
void ExpectGolden(DType dtype, double bound) {
  const GoldenFile file("layers.safetensors");
  for (const int64_t key_block : {32, 64, 128}) {
    AttentionCase problem({2, 37, 4, 2, 16, key_block}, dtype);
    problem.q.Fill(file.Floats("attention_core/in/q"));
    problem.k.Fill(file.Floats("attention_core/in/k"));
    problem.v.Fill(file.Floats("attention_core/in/v"));
    problem.d_o.Fill(file.Floats("attention_core/cotangent"));
    const NamedTensors got = RunAttention(problem, BestIsa());
    EXPECT_TRUE(
        CloseTo(Find(got, "o"), file.Doubles("attention_core/out"), bound))
        << "o, key block " << key_block;
    for (const std::string name : {"q", "k", "v"}) {
      EXPECT_TRUE(CloseTo(Find(got, name),
                          file.Doubles("attention_core/grads/" + name), bound))
          << name << ", key block " << key_block;
    }
  }
}

TEST(Attention, MatchesFloat64InFp32) {
  ExpectGolden(DType::kF32, 128 * kEpsF32);
}

TEST(Attention, N13MatchesFloat64InBf16) {
  ExpectGolden(DType::kBF16, 32 * kEpsBF16);
}

class AttentionStorage : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, AttentionStorage,
                         testing::Values(DType::kF32, DType::kBF16,
                                         DType::kF16),
                         [](const auto& info) { return NameOf(info.param); });

// Later tokens have no say in earlier outputs, by bytes, however wild they are.
TEST_P(AttentionStorage, N13TheFutureDoesNotMatter) {
  const AttentionShape shape{1, 75, 2, 1, 16, 32};
  const AttentionCase calm = AttentionCase::Random(shape, GetParam(), 4);
  AttentionCase wild = calm;
  for (int64_t t = 41; t < shape.tokens; ++t) {
    for (int64_t i = 0; i < 16; ++i) {
      wild.k.Set(t, i, 200.0f);
      wild.v.Set(t, i, -300.0f);
    }
  }
  const auto before = [&](const AttentionCase& problem) {
    return Slice(Find(RunAttention(problem, BestIsa()), "o"), 75, 0, 41);
  };
  EXPECT_TRUE(SameBits(before(calm), before(wild)));
}

// The block length is part of the order, so it shows in bits (N7), and only
// there.
TEST(Attention, N7KeyBlockIsPartOfTheOrder) {
  AttentionCase problem =
      AttentionCase::Random({1, 256, 2, 1, 32, 32}, DType::kF32, 5);
  const NamedTensors small = RunAttention(problem, BestIsa());
  problem.shape.key_block = 128;
  const NamedTensors large = RunAttention(problem, BestIsa());
  for (const auto& [name, values] : small) {
    EXPECT_FALSE(SameBits(values, Find(large, name))) << name;
    EXPECT_TRUE(CloseTo(Find(large, name), {values.begin(), values.end()},
                        64 * kEpsF32))
        << name;
  }
}

// Scores far beyond exp's range, all equal, or all tiny.
TEST_P(AttentionStorage, ExtremeScoresStayFinite) {
  for (const float scale : {0.0f, 1e-20f, 90.0f}) {
    AttentionCase problem =
        AttentionCase::Random({1, 75, 2, 1, 16, 32}, GetParam(), 6);
    std::vector<float> q = problem.q.Values();
    for (float& value : q) value *= scale;
    problem.q.Fill(q);
    for (const auto& [name, values] : RunAttention(problem, BestIsa())) {
      int64_t bad = 0;
      for (const float value : values) bad += !std::isfinite(value);
      EXPECT_EQ(bad, 0) << name << ", scale " << scale;
    }
  }
}

// Each document as if it were a sample of its own (N14). Not by bytes: key
// blocks lie elsewhere.
TEST_P(AttentionStorage, N14DocumentsDoNotMeet) {
  const AttentionShape shape{1, 130, 4, 2, 16, 32};
  const std::vector<int64_t> starts = {0, 40, 43, 64, 130};
  AttentionCase problem = AttentionCase::Random(shape, GetParam(), 7);
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    problem.segments.resize(starts[i + 1], static_cast<int32_t>(i) + 1);
  }
  const NamedTensors reset = RunAttention(problem, BestIsa());
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    const int64_t length = starts[i + 1] - starts[i];
    AttentionShape one = shape;
    one.tokens = length;
    AttentionCase alone(one, GetParam());
    const auto cut = [&](const std::vector<float>& values) {
      return Slice(values, shape.tokens, starts[i], length);
    };
    alone.q.Fill(cut(problem.q.Values()));
    alone.k.Fill(cut(problem.k.Values()));
    alone.v.Fill(cut(problem.v.Values()));
    alone.d_o.Fill(cut(problem.d_o.Values()));
    const NamedTensors want = RunAttention(alone, BestIsa());
    for (const std::string name : {"o", "q", "k", "v"}) {
      const std::vector<float>& values = Find(want, name);
      EXPECT_TRUE(CloseTo(cut(Find(reset, name)),
                          {values.begin(), values.end()},
                          16 * EpsOf(GetParam())))
          << name << ", document " << i;
    }
  }
  problem.segments.assign(shape.tokens, 7);
  const NamedTensors uniform = RunAttention(problem, BestIsa());
  problem.segments.clear();
  ExpectSame(RunAttention(problem, BestIsa()), uniform, "one document");
}

}  // namespace
}  // namespace lockstep
