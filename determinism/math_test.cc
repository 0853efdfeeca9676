// N8: one source, the same bits at every level, and errors against MPFR.

#include "determinism/math.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/float_env.h"
#include "determinism/math_array.h"
#include "determinism/math_reference.h"
#include "determinism/same_bits.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

// Every `stride`-th binary32 with the bits where functions change their course.
std::vector<float> Inputs(uint64_t stride) {
  std::vector<float> inputs;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += stride) {
    inputs.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  const uint32_t edges[] = {
      0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
      0x7f800001, 0x7fc00000, 0x3f800000, 0x3f2aaaab, 0x3f490fdb, 0x3f200000,
      0x3fc90fdb, 0x42b17217, 0x42b17218, 0x42aeac4f, 0x42aeac50, 0x41a00000,
      0x40c90fdb, 0x41200000, 0x3f000000, 0x3e800000, 0x34000000, 0x477fe000,
      0x477ff000, 0x38800000};
  for (const uint32_t edge : edges) {
    for (uint32_t near = edge - 3; near != edge + 4; ++near) {
      inputs.push_back(std::bit_cast<float>(near));
      inputs.push_back(std::bit_cast<float>(near ^ 0x80000000u));
    }
  }
  return inputs;
}

std::vector<float> Values(const ArrayFunction& function,
                          const std::vector<float>& x) {
  std::vector<float> y(x.size());
  function(x.data(), y.data(), static_cast<int64_t>(x.size()));
  return y;
}

TEST(MathTest, N8LevelsAgree) {
  const ScopedFloatEnv env;
  const std::vector<float> x = Inputs(4099);
  const std::vector<ArrayLevel> levels = ArrayLevelsHere();
  if (levels.size() == 1) {
    GTEST_SKIP() << levels[0].name << " is the only level here";
  }
  for (const ReferenceFunction& f : ReferenceFunctions()) {
    const std::vector<float> want = Values(levels[0].functions.*f.array, x);
    for (size_t l = 1; l < levels.size(); ++l) {
      EXPECT_TRUE(SameBits<float>(Values(levels[l].functions.*f.array, x), want,
                                  NanClass::kOne))
          << f.name << " " << levels[l].name;
    }
  }
}

// The bits themselves: part of every trajectory, so a better polynomial is a
// change of format, and another compiler or processor must still give them.
TEST(MathTest, N8GoldenBits) {
  const ScopedFloatEnv env;
  const std::map<std::string, std::string> golden = {
      {"exp", "2a74b83d1b7924462d774f407df7c070"},
      {"log", "07758a07d21e05704a96fa326eb2a620"},
      {"log1p", "d870a38c8808624fee37b793fa07426f"},
      {"sigmoid", "ecc90bbe394871ab34d40dd5b64d43ed"},
      {"softplus", "df9972b2762aae7ce8672a5f475d5cca"},
      {"tanh", "64a9826471f9a7158f68f0f746cccf9d"},
      {"rsqrt", "a7376a9175ed42b307f8000a8882758d"},
      {"sin", "3f302156c2e9c6e080916f1b42efd5fa"},
      {"cos", "7f95830042e2ca024218626592e50886"}};
  const std::vector<float> x = Inputs(4099);
  const ArrayFunctions functions = ArrayLevelsHere().back().functions;
  for (const ReferenceFunction& f : ReferenceFunctions()) {
    std::vector<float> y = Values(functions.*f.array, x);
    for (float& value : y) {
      if (value != value) value = std::bit_cast<float>(0x7fc00000u);
    }
    EXPECT_EQ(FingerprintBytes(y.data(), 4 * y.size()).Hex(), golden.at(f.name))
        << f.name;
  }
}

TEST(MathTest, N8ErrorsAgainstMpfr) {
  const ScopedFloatEnv env;
  const std::vector<float> x = Inputs(43013);
  const ArrayFunctions functions = ArrayLevelsHere().back().functions;
  MathReference reference;
  for (const ReferenceFunction& f : ReferenceFunctions()) {
    const std::vector<float> y = Values(functions.*f.array, x);
    double worst = 0.0;
    float worst_x = 0.0f;
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = reference.ErrorUlp(f, x[i], y[i]);
      if (error <= worst) continue;
      worst = error;
      worst_x = x[i];
    }
    EXPECT_LE(worst, f.max_error_ulp)
        << f.name << " at 0x" << std::hex << std::bit_cast<uint32_t>(worst_x);
    // A judge that finds no error at all judges nothing.
    EXPECT_GT(worst, 0.4) << f.name;
    RecordProperty(f.name, std::to_string(worst));
  }
}

TEST(MathTest, N8JudgeSeesOneUlpAndWrongClasses) {
  MathReference reference;
  const ReferenceFunction& exp = ReferenceFunctions()[0];
  EXPECT_EQ(reference.ErrorUlp(exp, 0.0f, 1.0f), 0.0);
  EXPECT_EQ(reference.ErrorUlp(exp, 0.0f, 0x1.000002p+0f), 1.0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      reference.ErrorUlp(exp, 0.0f, std::numeric_limits<float>::quiet_NaN()),
      infinity);
  EXPECT_EQ(reference.ErrorUlp(exp, -100.0f, 0x1p-140f), infinity);
  EXPECT_EQ(reference.ErrorUlp(exp, -100.0f, -0.0f), infinity);
}

TEST(MathTest, N8Specials) {
  const ScopedFloatEnv env;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float got[] = {
      math::Exp(-infinity),     math::Exp(infinity),      math::Exp(0.0f),
      math::Log(0.0f),          math::Log(-0.0f),         math::Log(1.0f),
      math::Log(infinity),      math::Log1p(-0.0f),       math::Log1p(-1.0f),
      math::Sigmoid(-infinity), math::Sigmoid(infinity),  math::Sigmoid(0.0f),
      math::Softplus(20.5f),    math::Softplus(infinity), math::Tanh(-0.0f),
      math::Tanh(-infinity),    math::Rsqrt(4.0f),        math::Sin(-0.0f),
      math::Cos(0.0f),          math::Softplus(-infinity)};
  const float want[] = {0.0f,  infinity, 1.0f,  -infinity, -infinity,
                        0.0f,  infinity, -0.0f, -infinity, 0.0f,
                        1.0f,  0.5f,     20.5f, infinity,  -0.0f,
                        -1.0f, 0.5f,     -0.0f, 1.0f,      0.0f};
  EXPECT_TRUE(SameBits<float>(got, want));
  const float nans[] = {
      math::Exp(nan),      math::Log(-1.0f), math::Log(nan),
      math::Log1p(-1.5f),  math::Log1p(nan), math::Sigmoid(nan),
      math::Softplus(nan), math::Tanh(nan),  math::Rsqrt(-1.0f),
      math::Sin(infinity), math::Cos(nan)};
  for (const float value : nans) EXPECT_TRUE(value != value);
}

// N2: subnormal arguments count as zero, and no function returns a subnormal.
TEST(MathTest, N2SubnormalsAreZero) {
  const ScopedFloatEnv env;
  const ArrayFunctions functions = ArrayLevelsHere().back().functions;
  const std::vector<float> x = Inputs(65537);
  std::vector<float> subnormals;
  std::vector<float> zeros;
  for (uint32_t bits = 1; bits < 0x00800000u; bits += 1013) {
    for (const uint32_t sign : {0u, 0x80000000u}) {
      subnormals.push_back(std::bit_cast<float>(bits | sign));
      zeros.push_back(std::bit_cast<float>(sign));
    }
  }
  for (const ReferenceFunction& f : ReferenceFunctions()) {
    EXPECT_TRUE(SameBits<float>(Values(functions.*f.array, subnormals),
                                Values(functions.*f.array, zeros),
                                NanClass::kOne))
        << f.name;
    int64_t subnormal_results = 0;
    for (const float y : Values(functions.*f.array, x)) {
      const uint32_t magnitude = std::bit_cast<uint32_t>(y) & 0x7fffffffu;
      subnormal_results += magnitude != 0 && magnitude < 0x00800000u;
    }
    EXPECT_EQ(subnormal_results, 0) << f.name;
  }
}

}  // namespace
}  // namespace lockstep
