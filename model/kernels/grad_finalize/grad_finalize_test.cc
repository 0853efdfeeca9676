#include "model/kernels/grad_finalize/grad_finalize.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
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
