#include "tools/bazel/selftest/cuda_probe.h"

#include "gtest/gtest.h"

namespace lockstep::selftest {
namespace {

TEST(CudaProbeTest, DoesNotContractOrSaysThatThereIsNoDevice) {
  const float x = 1 + 0x1p-12f;
  const absl::StatusOr<float> result =
      MultiplyAddOnDevice(x, x, -(1 + 0x1p-11f));
  if (!result.ok()) GTEST_SKIP() << result.status().ToString();
  EXPECT_EQ(*result, 0.0f);
}

}  // namespace
}  // namespace lockstep::selftest
