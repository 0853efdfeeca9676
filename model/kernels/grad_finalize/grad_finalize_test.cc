#include "model/kernels/grad_finalize/grad_finalize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/regimes.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kCount = 100003;

TEST(GradFinalizeTest, N5DividesInBinary64AndNarrowsOnce) {
  const std::vector<float> sum = RandomFloats(kCount, 1, -1e6f, 1e6f);
  const double divisor = 12345.0 * 4096.0;
  const auto out = ExpectSameOnEveryDevice(
      {TestMatrix(DType::kF32, 1, kCount)},
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        float* grad = outputs[0].as<float>();
        std::copy(sum.begin(), sum.end(), grad);
        GradFinalize(device, {kCount, grad, divisor});
      });
  int64_t differing = 0;
  int64_t differs_in_binary32 = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const float want = static_cast<float>(sum[i] / divisor);
    differing += static_cast<float>(out[0].At(0, i)) != want;
    differs_in_binary32 +=
        sum[i] * (1.0f / static_cast<float>(divisor)) != want;
  }
  EXPECT_EQ(differing, 0) << "of " << kCount;
  EXPECT_GT(differs_in_binary32, 0) << "the test could not fail";
}

// fp64(q) rounds above 2^53, the division and the narrowing round too: three
// roundings, of which each shows somewhere.
TEST(GradFinalizeTest, N5FromTheGrid) {
  std::mt19937_64 random(3);
  std::vector<int64_t> sum(kCount);
  for (int64_t& q : sum) {
    q = static_cast<int64_t>(random()) >> (random() % 64);
  }
  sum[0] = 0;
  sum[1] = std::numeric_limits<int64_t>::min();
  sum[2] = std::numeric_limits<int64_t>::max();
  int64_t differing = 0;
  int64_t conversion_shows = 0;
  int64_t zeros = 0;
  for (const int exponent : {49, -70, 175}) {
    const double divisor = 12345.0 * 4096.0;
    const auto out = ExpectSameOnEveryDevice(
        {TestMatrix(DType::kF32, 1, kCount)},
        [&](Device& device, std::vector<TestMatrix>& outputs) {
          GradFinalizeGrid(device, {kCount, sum.data(), outputs[0].as<float>(),
                                    exponent, divisor});
        });
    for (int64_t i = 0; i < kCount; ++i) {
      const double scaled = std::ldexp(static_cast<double>(sum[i]), -exponent);
      float want = static_cast<float>(scaled / divisor);
      if (std::abs(want) < 0x1p-126f) want = std::copysign(0.0f, want);
      differing += std::bit_cast<uint64_t>(out[0].At(0, i)) !=
                   std::bit_cast<uint64_t>(static_cast<double>(want));
      zeros += want == 0.0f;
      const auto exact = static_cast<long double>(sum[i]);
      conversion_shows +=
          static_cast<long double>(static_cast<double>(sum[i])) != exact;
    }
  }
  EXPECT_EQ(differing, 0) << "of " << 3 * kCount;
  EXPECT_GT(conversion_shows, kCount / 10);
  EXPECT_GT(zeros, 10);
}

std::vector<TestMatrix> FinalizeEverywhere(const std::vector<float>& sum) {
  const auto count = static_cast<int64_t>(sum.size());
  return ExpectSameOnEveryDevice(
      {TestMatrix(DType::kF32, 1, count)},
      [&](Device& device, std::vector<TestMatrix>& outputs) {
        float* grad = outputs[0].as<float>();
        std::copy(sum.begin(), sum.end(), grad);
        GradFinalize(device, {count, grad, 12345.0 * 4096.0});
      });
}

TEST(GradFinalizeTest, N1N2N5EveryRegimeAndCountAloneAndInTheWhole) {
  for (const Regime regime : kAllRegimes) {
    const std::vector<float> sum = RegimeFloats(20011, regime, 4);
    const TestMatrix whole = FinalizeEverywhere(sum)[0];
    for (const int64_t count : kOddExtents) {
      const int64_t first = 9001;
      const TestMatrix part = FinalizeEverywhere(
          {sum.begin() + first, sum.begin() + first + count})[0];
      for (int64_t i = 0; i < count; ++i) {
        const double a = whole.At(0, first + i), b = part.At(0, i);
        EXPECT_TRUE((std::isnan(a) && std::isnan(b)) ||
                    std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b))
            << NameOf(regime) << ", " << i << " of " << count;
      }
    }
  }
}

TEST(FirstNonFiniteTest, N1LowestIndexOnEveryDevice) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = RandomFloats(kCount, 2);
  const auto expect_first = [&](int64_t want) {
    int64_t tried = 0;
    for (const Isa isa : PresentIsas()) {
      for (const int threads : {1, 2, 3, 8}) {
        Device device(threads, isa);
        EXPECT_EQ(FirstNonFinite(device, values.data(), kCount), want)
            << NameOf(isa) << ", " << threads << " threads";
        ++tried;
      }
    }
    EXPECT_GE(tried, 4);
  };
  expect_first(-1);
  values[7] = std::numeric_limits<float>::max();
  values[8] = std::numeric_limits<float>::denorm_min();
  expect_first(-1);
  values[kCount - 1] = infinity;
  expect_first(kCount - 1);
  values[70000] = std::nanf("");
  expect_first(70000);
  values[16384] = -infinity;
  expect_first(16384);
  values[0] = -std::nanf("");
  expect_first(0);
}

TEST(FirstNonFiniteTest, NothingIsFinite) {
  Device device(2, BestIsa());
  EXPECT_EQ(FirstNonFinite(device, nullptr, 0), -1);
}

}  // namespace
}  // namespace lockstep
