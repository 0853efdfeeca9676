#include "model/kernels/cast/cast.h"

#include <bit>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kCount = 1 << 17;

// All classes of binary32: every exponent, some significands, both signs.
float Pattern(int64_t i) {
  const uint32_t bits = static_cast<uint32_t>(i) * 2654435761u;
  return std::bit_cast<float>(bits);
}

TestMatrix Patterns() {
  TestMatrix values(DType::kF32, 1, kCount);
  for (int64_t i = 0; i < kCount; ++i) values.Set(0, i, Pattern(i));
  return values;
}

TEST(CastTest, N10NarrowsTheSameOnEveryDevice) {
  const TestMatrix src = Patterns();
  for (const DType dtype : kStorageTypes) {
    const std::vector<TestMatrix> out = ExpectSameOnEveryDevice(
        {TestMatrix(dtype, 1, kCount)},
        [&](Device& device, std::vector<TestMatrix>& outputs) {
          Cast(device, {.n = kCount,
                        .src = src.data(),
                        .src_dtype = DType::kF32,
                        .dst = outputs[0].data(),
                        .dst_dtype = dtype});
        });
    ExpectSameMatrix(Converted(src, dtype), out[0], NameOf(dtype));
  }
}

template <class S>
void ExpectRoundTrip(DType dtype, uint16_t quiet_bit, uint16_t exponent) {
  TestMatrix all(dtype, 1, 65536);
  for (int64_t i = 0; i < 65536; ++i) {
    all.as<S>()[i].bits = static_cast<uint16_t>(i);
  }
  const auto round_trip = [&](Device& device, std::vector<TestMatrix>& out) {
    TestMatrix wide(DType::kF32, 1, 65536);
    Cast(device, {65536, all.data(), dtype, wide.data(), DType::kF32});
    Cast(device, {65536, wide.data(), DType::kF32, out[0].data(), dtype});
  };
  std::vector<TestMatrix> out =
      ExpectSameOnEveryDevice({TestMatrix(dtype, 1, 65536)}, round_trip);
  int64_t differing = 0;
  for (int64_t i = 0; i < 65536; ++i) {
    uint16_t want = static_cast<uint16_t>(i);
    if ((want & 0x7fff) > exponent) want |= quiet_bit;
    differing += out[0].as<S>()[i].bits != want;
  }
  EXPECT_EQ(differing, 0) << "of 65536 " << NameOf(dtype);
}

TEST(CastTest, N10EveryStorageValueComesBackUnflushed) {
  ExpectRoundTrip<BF16>(DType::kBF16, 0x0040, 0x7f80);
  ExpectRoundTrip<F16>(DType::kF16, 0x0200, 0x7c00);
}

TEST(CastTest, CopiesKeepTheBitsOfNaNs) {
  const uint32_t signalling = 0xffa12345u;
  uint32_t copy = 0;
  Device device(1, Isa::kScalar);
  Cast(device, {1, &signalling, DType::kF32, &copy, DType::kF32});
  EXPECT_EQ(copy, signalling);
}

TEST(CastDeathTest, RefusesTwoNarrowTypes) {
  Device device(1, Isa::kScalar);
  const uint16_t in = 0;
  uint16_t out = 0;
  EXPECT_DEATH(Cast(device, {1, &in, DType::kBF16, &out, DType::kF16}),
               "BF16 to F16");
}

}  // namespace
}  // namespace lockstep
