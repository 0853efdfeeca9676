#include "data/blend.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "data/test_files.h"
#include "determinism/status.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

BlendWeights Weights(const std::vector<double>& weights) {
  const auto result = MakeBlendWeights(weights);
  LS_CHECK(result.ok()) << MessageOf(result.status());
  return *result;
}

Blend MustMake(const std::vector<BlendStage>& stages) {
  auto blend = Blend::Make(stages);
  LS_CHECK(blend.ok()) << MessageOf(blend.status());
  return *std::move(blend);
}

// |count - weight * draws| < 1 for all sources at every prefix of `draws`, in
// whole numbers; and the index counts the source's draws.
void ExpectFair(const BlendWeights& weights, uint64_t draws) {
  const BlendPeriod blend(weights);
  const auto period = static_cast<int64_t>(weights.period);
  std::vector<int64_t> counts(weights.parts.size(), 0);
  for (uint64_t g = 0; g < draws; ++g) {
    const BlendDraw draw = blend.At(g);
    ASSERT_LT(draw.source, counts.size());
    ASSERT_EQ(draw.index, static_cast<uint64_t>(counts[draw.source])) << g;
    ++counts[draw.source];
    for (size_t s = 0; s < counts.size(); ++s) {
      const int64_t ahead =
          counts[s] * period - static_cast<int64_t>(weights.parts[s] * (g + 1));
      ASSERT_LT(std::abs(ahead), period) << "source " << s << " at " << g;
    }
  }
  const std::vector<uint64_t> at_end = blend.Counts(draws);
  for (size_t s = 0; s < counts.size(); ++s) {
    ASSERT_EQ(at_end[s], static_cast<uint64_t>(counts[s]));
  }
}

// Every set of weights with a small denominator, and larger ones at random.
TEST(BlendTest, CountsAreWithinOneOfWeightTimesDrawsAtEveryPrefix) {
  int64_t sets = 0;
  for (uint64_t a = 0; a <= 9; ++a) {
    for (uint64_t b = 0; b <= 9; ++b) {
      for (uint64_t c = 0; c <= 9; ++c) {
        for (uint64_t d = a + b + c == 0; d <= 9; ++d, ++sets) {
          ExpectFair({{a, b, c, d}, a + b + c + d, false},
                     2 * (a + b + c + d) + 3);
        }
      }
    }
  }
  EXPECT_EQ(sets, 9999);
  uint64_t state = 88172645463325252u;
  const auto random = [&] {  // xorshift64
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  for (int trial = 0; trial < 60; ++trial) {
    BlendWeights weights;
    for (uint64_t k = 1 + random() % 40; k > 0; --k) {
      const uint64_t part = random() % (trial % 2 == 0 ? 400 : 4);
      weights.parts.push_back(part);
      weights.period += part;
    }
    if (weights.period > 0) {
      ExpectFair(weights, 2 * weights.period + 5);
    }
  }
}

// NVIDIA/Megatron-LM#705, EleutherAI/gpt-neox#377: weights 0.001 and 0.999 ran
// beyond a source's end; and the largest deficit first would give the small one
// its first draw at once.
TEST(BlendTest, ASourceOfTinyWeightIsNeverOverServed) {
  const Blend blend = MustMake({{0, {0.001, 0.999}}});
  EXPECT_EQ(blend.Counts(20)[0], 0u);
  EXPECT_EQ(blend.Counts(499)[0], 0u);
  EXPECT_EQ(blend.Counts(1000)[0], 1u);
  ExpectFair(Weights({0.49, 0.49, 0.02}), 400);
}

// NVIDIA/Megatron-LM#1007: a fine blend was refused since one source is never
// drawn.
TEST(BlendTest, ZeroDrawsAreAllowed) {
  const Blend blend = MustMake({{0, {0.4995, 0.4995, 1e-7}}});
  EXPECT_EQ(blend.Counts(20), (std::vector<uint64_t>{10, 10, 0}));
  EXPECT_TRUE(blend.rounded(0));
}

// huggingface/nanotron#380, marin-community/levanter#876: always the last
// stage's data, or a stage that begins early.
TEST(BlendTest, StagesBeginAtTheirSampleAndSourcesContinue) {
  const Blend blend = MustMake(
      {{0, {1, 0, 0}}, {5, {0, 1, 0}}, {9, {1, 0, 1}}, {13, {0, 1, 0}}});
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {
      {0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {1, 1}, {1, 2},
      {1, 3}, {0, 5}, {2, 0}, {0, 6}, {2, 1}, {1, 4}, {1, 5}};
  std::vector<std::pair<uint64_t, uint64_t>> drawn;
  for (uint64_t g = 0; g < expected.size(); ++g) {
    drawn.push_back({blend.At(g).source, blend.At(g).index});
  }
  EXPECT_EQ(drawn, expected);
  std::vector<uint64_t> counts(3, 0);
  for (uint64_t g = 0; g < 15; ++g) {
    EXPECT_EQ(blend.Counts(g), counts) << g;
    ++counts[blend.At(g).source];
  }
  // As if resumed: any index alone, in any order.
  for (uint64_t g = expected.size(); g-- > 0;) {
    EXPECT_EQ(blend.At(g).index, expected[g].second);
  }
}

TEST(BlendTest, TheLargestPeriodAndIndex) {
  const auto begin = std::chrono::steady_clock::now();
  const Blend blend = MustMake({{0, {1, 1048575}}});
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  printf("a period of 2^20: %.0f ms\n", seconds.count() * 1e3);
  constexpr uint64_t kTurns = uint64_t{1} << 40;
  const BlendDraw last = blend.At(kTurns * kMaxBlendPeriod - 1);
  EXPECT_EQ(last.source, 1u);
  EXPECT_EQ(last.index, kTurns * 1048575 - 1);
  EXPECT_EQ(blend.Counts(kTurns * kMaxBlendPeriod),
            (std::vector<uint64_t>{kTurns, kTurns * 1048575}));
}

}  // namespace
}  // namespace lockstep
