#include "tools/bazel/selftest/isa_probe.h"

#include "gtest/gtest.h"

namespace lockstep::selftest {
namespace {

// A contracted multiply-add would keep the product's low bits: 2^-24 here.
TEST(IsaProbeTest, NoLevelContracts) {
  const float x = 1 + 0x1p-12f;
  const std::vector<float> a = {-1.0f, x};
  const std::vector<float> b = {1 + 0x1p-11f, x};
  EXPECT_EQ(scalar::GreatestPartialSum(a, b), 0.0f);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_EQ(avx2::GreatestPartialSum(a, b), 0.0f);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    EXPECT_EQ(avx512::GreatestPartialSum(a, b), 0.0f);
  }
}

}  // namespace
}  // namespace lockstep::selftest
