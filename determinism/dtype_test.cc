// N2: conversions are integer arithmetic and flush nothing.

#include "determinism/dtype.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math_array.h"
#include "determinism/same_bits.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

float FromBits(uint32_t bits) { return std::bit_cast<float>(bits); }

uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }

// The nearest of all candidates by exact distance, the even one in a tie.
uint16_t NearestBF16(float value) {
  const uint32_t below = BitsOf(value) >> 16;  // towards zero
  const double lower = FromBits(below << 16);
  const uint32_t above = below + 1;
  const bool overflow = (above & 0x7fffu) == 0x7f80u;
  const double upper =
      overflow ? std::copysign(0x1p+128, lower) : FromBits(above << 16);
  const double down = std::fabs(value - lower);
  const double up = std::fabs(upper - value);
  const bool take_upper = up < down || (up == down && (below & 1) != 0);
  return static_cast<uint16_t>(take_upper ? above : below);
}

TEST(DtypeTest, NamesAndSizes) {
  const DType all[] = {DType::kF32, DType::kBF16, DType::kF16, DType::kF64,
                       DType::kI64, DType::kI32,  DType::kU8,  DType::kU16,
                       DType::kU32, DType::kU64};
  size_t bytes = 0;
  for (const DType dtype : all) {
    EXPECT_EQ(*DTypeFromName(NameOf(dtype)), dtype);
    bytes += SizeOf(dtype);
  }
  EXPECT_EQ(bytes, 4u + 2 + 2 + 8 + 8 + 4 + 1 + 2 + 4 + 8);
  EXPECT_EQ(DTypeFromName("f32").status().code(),
            absl::StatusCode::kInvalidArgument);
}

// libgcc's conversion is an independent implementation of binary16.
TEST(DtypeTest, N2RoundsToNearestEven) {
  std::vector<uint16_t> got;
  std::vector<uint16_t> want;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021) {
    const float value = FromBits(static_cast<uint32_t>(bits));
    if (value != value) continue;
    got.push_back(ToBF16(value).bits);
    want.push_back(std::isinf(value) ? static_cast<uint16_t>(bits >> 16)
                                     : NearestBF16(value));
    got.push_back(ToF16(value).bits);
    want.push_back(std::bit_cast<uint16_t>(static_cast<_Float16>(value)));
  }
  EXPECT_TRUE(SameBits<uint16_t>(got, want));
}

TEST(DtypeTest, N2TiesAndEdgesOfF16) {
  // Every value halfway between two neighbours, and the floats beside it.
  std::vector<uint16_t> got;
  std::vector<uint16_t> want;
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float low = ToF32(F16{static_cast<uint16_t>(bits)});
    const float high = bits + 1 == 0x7c00
                           ? 65536.0f
                           : ToF32(F16{static_cast<uint16_t>(bits + 1)});
    const float middle = 0.5f * low + 0.5f * high;  // exact
    for (const float sign : {1.0f, -1.0f}) {
      for (const int step : {-1, 0, 1}) {
        const float value = sign * FromBits(BitsOf(middle) + step);
        got.push_back(ToF16(value).bits);
        want.push_back(std::bit_cast<uint16_t>(static_cast<_Float16>(value)));
      }
    }
  }
  EXPECT_TRUE(SameBits<uint16_t>(got, want));
}

TEST(DtypeTest, N2WideningIsExactAndComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const BF16 b = {static_cast<uint16_t>(bits)};
    const F16 h = {static_cast<uint16_t>(bits)};
    const bool b_nan = ToF32(b) != ToF32(b);
    const bool h_nan = ToF32(h) != ToF32(h);
    ASSERT_EQ(ToBF16(ToF32(b)).bits, b_nan ? bits | 0x40u : bits);
    ASSERT_EQ(ToF16(ToF32(h)).bits, h_nan ? bits | 0x200u : bits);
    ASSERT_EQ(h_nan, (bits & 0x7fffu) > 0x7c00u);
    if (h_nan) continue;
    ASSERT_EQ(BitsOf(ToF32(h)),
              BitsOf(static_cast<float>(std::bit_cast<_Float16>(h.bits))));
  }
}

TEST(DtypeTest, N2FloatEnvironmentDoesNotMatter) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4099) {
    x.push_back(FromBits(static_cast<uint32_t>(bits)));
  }
  for (uint32_t bits = 0; bits < 0x00800000u; bits += 97) {
    x.push_back(FromBits(bits));
  }
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> want(x.size());
  std::vector<float> got(x.size());
  for (const auto member :
       {&ArrayFunctions::through_bf16, &ArrayFunctions::through_f16}) {
    (ArrayLevelsHere()[0].functions.*member)(x.data(), want.data(), n);
    const ScopedFloatEnv env;
    for (const ArrayLevel& level : ArrayLevelsHere()) {
      (level.functions.*member)(x.data(), got.data(), n);
      EXPECT_TRUE(SameBits<float>(got, want)) << level.name;
    }
  }
}

TEST(FloatEnvTest, N2IsSetAndPutBack) {
  const volatile float tiny = 0x1p-126f;
  const unsigned before = _mm_getcsr() & ~0x3fu;
  EXPECT_NE(tiny * 0.5f, 0.0f);
  {
    const ScopedFloatEnv env;
    EXPECT_TRUE(FloatEnvIsStrict());
    EXPECT_EQ(BitsOf(tiny * 0.5f), 0u);  // FTZ
    const volatile float subnormal = FromBits(0x00400000u);
    EXPECT_EQ(BitsOf(subnormal * 0x1p+100f), 0u);  // DAZ
    { const ScopedFloatEnv nested; }
    EXPECT_TRUE(FloatEnvIsStrict());
  }
  EXPECT_EQ(_mm_getcsr() & ~0x3fu, before);
  EXPECT_FALSE(FloatEnvIsStrict());
}

}  // namespace
}  // namespace lockstep
