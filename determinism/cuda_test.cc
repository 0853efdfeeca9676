// N8, N11: a device gives the same bits as the CPU.

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "determinism/fingerprint_cuda.h"
#include "determinism/float_env.h"
#include "determinism/math_array.h"
#include "determinism/math_cuda.h"
#include "determinism/same_bits.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(CudaTest, N11FingerprintsSameAsOnTheCpuOrAClearAnswer) {
  std::vector<std::byte> bytes(1 << 20);
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 2654435761u >> 13);
  }
  if (!CudaAvailable()) {
    const absl::Status status = FingerprintOnDevice(bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.ToString().find("CPU"), std::string::npos);
    return;
  }
  for (const uint64_t offset : {0ull, 1ull, 6ull, (1ull << 34) - 4096}) {
    for (const size_t n : {0, 1, 3, 4, 1001, 1 << 20}) {
      const auto part = std::span(bytes).first(n);
      const auto got = FingerprintOnDevice(part, offset);
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(*got, FingerprintBytes(part.data(), n, offset));
    }
  }
}

TEST(CudaTest, N8FunctionsSameAsOnTheCpuOrAClearAnswer) {
  using F = ArrayFunctions;
  const std::pair<const char*, ArrayFunction F::*> functions[] = {
      {"exp", &F::exp},
      {"log", &F::log},
      {"log1p", &F::log1p},
      {"sigmoid", &F::sigmoid},
      {"softplus", &F::softplus},
      {"tanh", &F::tanh},
      {"rsqrt", &F::rsqrt},
      {"sin", &F::sin},
      {"cos", &F::cos},
      {"through_bf16", &F::through_bf16},
      {"through_f16", &F::through_f16}};
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  const ScopedFloatEnv env;
  std::vector<float> want(x.size());
  for (const auto& [name, member] : functions) {
    const auto got = ApplyOnDevice(name, x);
    if (!CudaAvailable()) {
      EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ASSERT_TRUE(got.ok()) << got.status();
    (ArrayLevelsHere().back().functions.*member)(
        x.data(), want.data(), static_cast<int64_t>(x.size()));
    EXPECT_TRUE(SameBits<float>(*got, want, NanClass::kOne)) << name;
  }
}

}  // namespace
}  // namespace lockstep
