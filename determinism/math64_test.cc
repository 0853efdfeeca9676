// N6: binary64 scalars by our own polynomials, judged by MPFR.

#include "determinism/math64.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/float_env.h"
#include "determinism/math_reference.h"
#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

uint64_t Draw64(uint64_t i) {
  const RandomPosition at = {Stream::kTest, 0, 64, 2 * i};
  return uint64_t{RandomU32(1, at)} << 32 |
         RandomU32(1, {at.stream, at.layer, at.item, at.element + 1});
}

// Half of them over all bit patterns, half uniform in [-limit, limit].
double Input(uint64_t i, double limit) {
  const uint64_t bits = Draw64(i);
  if (i % 2 == 0) return std::bit_cast<double>(bits);
  return (static_cast<double>(bits >> 11) * 0x1p-52 - 1.0) * limit;
}

double WorstUlp(double (*function)(double), void (*value)(mpfr_t, const mpfr_t),
                double limit, bool positive) {
  const ScopedFloatEnv env;
  MathReference reference;
  double worst = 0.0;
  for (uint64_t i = 0; i < 40000; ++i) {
    const double drawn = Input(i, limit);
    const double x = positive ? std::fabs(drawn) : drawn;
    worst = std::fmax(worst, reference.ErrorUlp64(value, x, function(x)));
  }
  return worst;
}

void Exp(mpfr_t r, const mpfr_t x) { mpfr_exp(r, x, MPFR_RNDN); }
void Exp2(mpfr_t r, const mpfr_t x) { mpfr_exp2(r, x, MPFR_RNDN); }
void Log(mpfr_t r, const mpfr_t x) { mpfr_log(r, x, MPFR_RNDN); }
void Log2(mpfr_t r, const mpfr_t x) { mpfr_log2(r, x, MPFR_RNDN); }

// mpfr_cospi is newer than the library; cos of the exact remainder modulo 2.
void CosPi(mpfr_t r, const mpfr_t x) {
  mpfr_t two;
  mpfr_init2(two, 8);
  mpfr_set_ui(two, 2, MPFR_RNDN);
  mpfr_fmod(r, x, two, MPFR_RNDN);
  mpfr_t pi;
  mpfr_init2(pi, 400);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul(pi, pi, r, MPFR_RNDN);
  mpfr_cos(r, pi, MPFR_RNDN);
  mpfr_clears(two, pi, static_cast<mpfr_ptr>(nullptr));
}

void ExpectWithin(double worst, double bound) {
  EXPECT_LE(worst, bound);
  EXPECT_GT(worst, 0.4) << "a judge that finds no error judges nothing";
}

TEST(Math64Test, N6ExpWithinOneUlp) {
  ExpectWithin(WorstUlp(math64::Exp, Exp, 710.0, false), 1.0);
}

TEST(Math64Test, N6Exp2WithinOneUlp) {
  ExpectWithin(WorstUlp(math64::Exp2, Exp2, 1024.0, false), 1.0);
}

TEST(Math64Test, N6LogWithinOneUlp) {
  ExpectWithin(WorstUlp(math64::Log, Log, 2.0, true), 1.0);
}

TEST(Math64Test, N6Log2WithinOneUlp) {
  ExpectWithin(WorstUlp(math64::Log2, Log2, 2.0, true), 1.0);
}

TEST(Math64Test, N6CosPiWithinOneUlp) {
  const ScopedFloatEnv env;
  MathReference reference;
  double worst = 0.0;
  for (uint64_t i = 1; i < 40000; i += 2) {
    const double x = Input(i, 4.0);
    worst = std::fmax(worst, reference.ErrorUlp64(CosPi, x, math64::CosPi(x)));
  }
  ExpectWithin(worst, 1.0);
}

// The bits themselves, as in math_test.cc.
TEST(Math64Test, N6GoldenBits) {
  const ScopedFloatEnv env;
  double (*const functions[])(double) = {math64::Exp, math64::Exp2, math64::Log,
                                         math64::Log2, math64::CosPi};
  const std::string golden[] = {
      "f19539dffd79626e2392361b957c61c0", "906b34d1d1841fd0d3209ddc6ded4cd4",
      "5849f60fab8052e3a752df89dd2365fb", "e54f1e5232a6b10b83ccdfdad059a901",
      "cd36865b3cf7ddf73328bdf880a1ba65"};
  for (int f = 0; f < 5; ++f) {
    std::vector<double> y;
    for (uint64_t i = 0; i < 20000; ++i) {
      const double value = functions[f](Input(i, 4.0));
      if (value == value) y.push_back(value);
    }
    EXPECT_EQ(FingerprintBytes(y.data(), 8 * y.size()).Hex(), golden[f]) << f;
  }
}

TEST(Math64Test, N6ExactWhereItCanBe) {
  const ScopedFloatEnv env;
  for (int n = -1022; n < 1024; ++n) {
    const double power = std::bit_cast<double>(uint64_t(n + 1023) << 52);
    EXPECT_EQ(math64::Exp2(n), power);
    EXPECT_EQ(math64::Log2(power), n);
  }
  EXPECT_EQ(math64::Exp2(-1074.0), 0.0);
  EXPECT_EQ(math64::Exp2(1024.0), kInfinity);
  EXPECT_EQ(math64::Exp(0.0), 1.0);
  EXPECT_EQ(math64::Exp(-kInfinity), 0.0);
  EXPECT_EQ(math64::Exp(kInfinity), kInfinity);
  EXPECT_EQ(math64::Log(1.0), 0.0);
  EXPECT_EQ(math64::Log(0.0), -kInfinity);
  EXPECT_EQ(math64::Log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(math64::Log(-1.0)));
  EXPECT_TRUE(std::isnan(math64::CosPi(kInfinity)));
  const double quarter[] = {1.0, 0.0, -1.0, 0.0};
  for (int i = -9; i < 9; ++i) {
    EXPECT_EQ(std::bit_cast<uint64_t>(math64::CosPi(0.5 * i)),
              std::bit_cast<uint64_t>(quarter[i & 3]));
  }
  EXPECT_EQ(math64::CosPi(0x1p+60), 1.0);
}

TEST(Math64Test, N6PowersByFixedOrderSquaring) {
  EXPECT_EQ(math64::PowInt(0.9, 0), 1.0);
  EXPECT_EQ(math64::PowInt(3.0, 20), 3486784401.0);
  const double b = 0.999;
  const double b2 = b * b;
  const double b4 = b2 * b2;
  EXPECT_EQ(std::bit_cast<uint64_t>(math64::PowInt(b, 7)),
            std::bit_cast<uint64_t>(b * b2 * b4));
  EXPECT_EQ(math64::PowInt(0.5, 1000000), 0.0);
}

}  // namespace
}  // namespace lockstep
