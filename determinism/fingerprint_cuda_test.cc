// N11: the device adds the same words with the same keys.

#include "determinism/fingerprint_cuda.h"

#include <vector>

#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(FingerprintCudaTest, N11SameAsOnTheCpuOrAClearAnswer) {
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

}  // namespace
}  // namespace lockstep
