// N1, N2: the vectors of simd.h give the same bits at every level, and their
// conversions are those of determinism/dtype.h, under FTZ and DAZ.

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/environment.h"
#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/kernels/simd_check.h"

namespace lockstep {
namespace {

class SimdTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!IsaPresent(GetParam())) {
      GTEST_SKIP() << NameOf(GetParam()) << " is not on this machine";
    }
  }
};

// Calls `check` with sixteen bit patterns at a time: all signs and exponents
// with significands around the rounding points, and random ones.
template <class Check>
int64_t ForEachSixteen(Check check) {
  std::mt19937 random(1);
  int64_t checked = 0;
  for (uint32_t top = 0; top < 0x10000; ++top) {  // sign, exponent, 7 bits
    float values[16];
    for (uint32_t i = 0; i < 16; ++i) {
      const uint32_t low[] = {0,      1,      0x7fff, 0x8000, 0x8001, 0xffff,
                              0x1000, 0x0fff, 0x1001, 0x2000, 0x3000};
      const uint32_t bits = top << 16 | (i < 11 ? low[i] : random() & 0xffffu);
      values[i] = std::bit_cast<float>(bits);
    }
    check(values);
    checked += 16;
  }
  return checked;
}

TEST_P(SimdTest, N2NarrowBF16) {
  const auto narrow =
      LS_KERNEL_VARIANTS(SimdNarrowBF16, "simd", "").For(GetParam());
  ScopedFloatEnv env;
  int64_t bad = 0;
  const int64_t checked = ForEachSixteen([&](const float* values) {
    BF16 out[16];
    narrow(values, out, 16);
    for (int i = 0; i < 16; ++i) bad += out[i].bits != ToBF16(values[i]).bits;
  });
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(checked, 1 << 20);
}

TEST_P(SimdTest, N2NarrowF16) {
  const auto narrow =
      LS_KERNEL_VARIANTS(SimdNarrowF16, "simd", "").For(GetParam());
  ScopedFloatEnv env;
  int64_t bad = 0;
  const int64_t checked = ForEachSixteen([&](const float* values) {
    F16 out[16];
    narrow(values, out, 16);
    for (int i = 0; i < 16; ++i) bad += out[i].bits != ToF16(values[i]).bits;
  });
  EXPECT_EQ(bad, 0);
  EXPECT_EQ(checked, 1 << 20);
}

TEST_P(SimdTest, N2WidenIsExact) {
  const auto widen_bf16 =
      LS_KERNEL_VARIANTS(SimdWidenBF16, "simd", "").For(GetParam());
  const auto widen_f16 =
      LS_KERNEL_VARIANTS(SimdWidenF16, "simd", "").For(GetParam());
  ScopedFloatEnv env;
  int64_t bad = 0;
  for (uint32_t first = 0; first < 0x10000; first += 16) {
    BF16 bf16[16];
    F16 f16[16];
    float from_bf16[16], from_f16[16];
    for (uint32_t i = 0; i < 16; ++i) {
      bf16[i].bits = f16[i].bits = static_cast<uint16_t>(first + i);
    }
    widen_bf16(bf16, from_bf16, 16);
    widen_f16(f16, from_f16, 16);
    for (int i = 0; i < 16; ++i) {
      bad += std::bit_cast<uint32_t>(from_bf16[i]) !=
             std::bit_cast<uint32_t>(ToF32(bf16[i]));
      bad += std::bit_cast<uint32_t>(from_f16[i]) !=
             std::bit_cast<uint32_t>(ToF32(f16[i]));
    }
  }
  EXPECT_EQ(bad, 0);
}

TEST_P(SimdTest, PartialAccessTouchesNoMore) {
  const auto narrow =
      LS_KERNEL_VARIANTS(SimdNarrowBF16, "simd", "").For(GetParam());
  const auto widen =
      LS_KERNEL_VARIANTS(SimdWidenBF16, "simd", "").For(GetParam());
  for (int64_t count = 0; count <= 16; ++count) {
    // asan guards the ends; one element before, so that no pointer is null.
    const std::vector<float> from(count + 1, 1.0f);
    std::vector<BF16> narrowed(18, BF16{0x1234});
    narrow(from.data() + 1, narrowed.data() + 1, count);
    const std::vector<BF16> narrow_from(count + 1, BF16{0x3f80});
    std::vector<float> widened(18, -7.0f);
    widen(narrow_from.data() + 1, widened.data() + 1, count);
    for (int64_t i = 0; i < 18; ++i) {
      const bool inside = i >= 1 && i <= count;
      EXPECT_EQ(narrowed[i].bits, inside ? 0x3f80 : 0x1234);
      EXPECT_EQ(widened[i], inside ? 1.0f : -7.0f);
    }
  }
}

TEST_P(SimdTest, FmaRoundsOnce) {
  const auto fma = LS_KERNEL_VARIANTS(SimdFma, "simd", "").For(GetParam());
  ScopedFloatEnv env;
  std::mt19937 random(2);
  int64_t bad = 0, two_roundings_differ = 0;
  for (int repeat = 0; repeat < 10000; ++repeat) {
    float a[16], b[16], c[16], out[16];
    for (int i = 0; i < 16; ++i) {
      a[i] = static_cast<float>(random()) * 0x1p-32f;
      b[i] = static_cast<float>(random()) * 0x1p-32f;
      c[i] = -a[i] * b[i] * (random() % 2 ? 1.0f : 0.5f);
    }
    fma(a, b, c, out);
    for (int i = 0; i < 16; ++i) {
      const float want = std::fma(a[i], b[i], c[i]);
      bad += std::bit_cast<uint32_t>(out[i]) != std::bit_cast<uint32_t>(want);
      two_roundings_differ += out[i] != a[i] * b[i] + c[i];
    }
  }
  EXPECT_EQ(bad, 0);
  EXPECT_GT(two_roundings_differ, 10000);
}

TEST_P(SimdTest, Transpose) {
  const auto transpose =
      LS_KERNEL_VARIANTS(SimdTranspose, "simd", "").For(GetParam());
  float matrix[256];
  for (int i = 0; i < 256; ++i) matrix[i] = static_cast<float>(i);
  transpose(matrix);
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(matrix[i], static_cast<float>(i % 16 * 16 + i / 16));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Levels, SimdTest, testing::Values(Isa::kScalar, Isa::kAvx2, Isa::kAvx512),
    [](const auto& info) { return std::string(NameOf(info.param)); });

}  // namespace
}  // namespace lockstep
