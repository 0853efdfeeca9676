#include "data/blend_weights.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
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

TEST(BlendWeightsTest, ADecimalIsTakenAsItWasWritten) {
  const std::pair<std::vector<double>, std::vector<uint64_t>> cases[] = {
      {{0.49, 0.49, 0.02}, {49, 49, 2}},
      {{1}, {1}},
      {{0.3}, {1}},
      {{1, 1, 1}, {1, 1, 1}},
      {{0.333, 0.333, 0.333}, {1, 1, 1}},
      {{1e300, 3e300}, {1, 3}},
      {{1e-300, 3e-300}, {1, 3}},
      {{5e-324, 5e-324}, {1, 1}},
      {{0.1, 0.2, 0.7}, {1, 2, 7}},
      {{0, 2, 0, 6}, {0, 1, 0, 3}},
      {{0.001, 0.999}, {1, 999}},
      {{1, 1048575}, {1, 1048575}},
  };
  for (const auto& [weights, parts] : cases) {
    const BlendWeights result = Weights(weights);
    EXPECT_EQ(result.parts, parts);
    EXPECT_FALSE(result.rounded);
    EXPECT_EQ(result.period,
              std::accumulate(parts.begin(), parts.end(), uint64_t{0}));
  }
}

TEST(BlendWeightsTest, LargerDenominatorsAreRoundedAndSaidTo) {
  for (const std::vector<double>& weights :
       {std::vector<double>{1, 1048576},
        std::vector<double>{0.4995, 0.4995, 1e-7},
        std::vector<double>{0.1234567891234, 0.7, 3e-5},
        std::vector<double>{1.7e308, 1.7e308, 5e-324},
        std::vector<double>{M_PI, M_E, M_SQRT2}}) {
    const BlendWeights result = Weights(weights);
    EXPECT_TRUE(result.rounded);
    EXPECT_EQ(result.period, kMaxBlendPeriod);
    EXPECT_EQ(
        std::accumulate(result.parts.begin(), result.parts.end(), uint64_t{0}),
        kMaxBlendPeriod);
    long double sum = 0;
    for (const double w : weights) sum += w;
    for (size_t i = 0; i < weights.size(); ++i) {
      const long double asked = weights[i] / sum * kMaxBlendPeriod;
      EXPECT_LT(std::abs(static_cast<double>(
                    static_cast<long double>(result.parts[i]) - asked)),
                1.0)
          << weights[i];
    }
  }
  EXPECT_EQ(Weights({0.4995, 0.4995, 1e-7}).parts[2], 0u);
}

TEST(BlendWeightsTest, WeightsThatCannotBeAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& weights : {std::vector<double>{},
                                             {0},
                                             {0, 0, 0},
                                             {1, -0.5},
                                             {nan},
                                             {1, nan},
                                             {1, infinity},
                                             std::vector<double>(65537, 1)}) {
    EXPECT_EQ(ExitCodeFor(MakeBlendWeights(weights).status()), 2);
  }
}

}  // namespace
}  // namespace lockstep
