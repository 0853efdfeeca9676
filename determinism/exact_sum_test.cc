// N6: exact sums have no order and round once.

#include "determinism/exact_sum.h"

#include <mpfr.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

uint64_t Draw64(uint64_t item, uint64_t i) {
  return uint64_t{RandomU32(1, {Stream::kTest, 0, item, 2 * i})} << 32 |
         RandomU32(1, {Stream::kTest, 0, item, 2 * i + 1});
}

template <class T>
void Shuffle(std::vector<T>& values, uint64_t item) {
  for (size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[Draw64(item, i) % i]);
  }
}

// MPFR with enough bits to hold any sum of a million binary64 exactly.
double MpfrSum(const std::vector<double>& values) {
  mpfr_t sum;
  mpfr_init2(sum, 2300);
  mpfr_set_zero(sum, 1);
  for (const double value : values) mpfr_add_d(sum, sum, value, MPFR_RNDN);
  // Two steps, so that a subnormal result is rounded once.
  const mpfr_exp_t emin = mpfr_get_emin();
  mpfr_t rounded;
  mpfr_init2(rounded, 53);
  mpfr_set_emin(-1073);
  const int inexact = mpfr_set(rounded, sum, MPFR_RNDN);
  mpfr_subnormalize(rounded, inexact, MPFR_RNDN);
  const double result = mpfr_get_d(rounded, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_clears(sum, rounded, static_cast<mpfr_ptr>(nullptr));
  return result;
}

// Values whose exponents span `spread` around `middle` and that cancel partly.
std::vector<double> Spread(uint64_t item, int n, int middle, int spread) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const uint64_t bits = Draw64(item, i);
    const auto exponent =
        static_cast<uint64_t>(middle - spread / 2 + 1023) + bits % spread;
    values.push_back(
        std::bit_cast<double>((bits & 0x800fffffffffffffu) | exponent << 52));
    if (i % 3 == 0) values.push_back(-values.back() * 0.75);
  }
  return values;
}

ExactSum SumOf(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.Add(value);
  return sum;
}

TEST(ExactSumTest, N6CorrectlyRoundedAndWithoutOrder) {
  const int cases[][2] = {{0, 10},     {0, 120},   {500, 900}, {-500, 1000},
                          {-1000, 44}, {1000, 40}, {0, 2000}};
  for (const auto& [middle, spread] : cases) {
    for (uint64_t trial = 0; trial < 20; ++trial) {
      std::vector<double> values = Spread(trial, 200, middle, spread);
      const ExactSum sum = SumOf(values);
      EXPECT_EQ(Bits(sum.Round()), Bits(MpfrSum(values))) << middle;
      Shuffle(values, 100 + trial);
      EXPECT_EQ(SumOf(values).Words(), sum.Words());
    }
  }
}

TEST(ExactSumTest, N6SubnormalsAndEnvironment) {
  std::vector<double> values;
  for (uint64_t i = 0; i < 300; ++i) {
    values.push_back(std::bit_cast<double>(Draw64(7, i) & 0x800fffffffffffffu));
  }
  const double want = MpfrSum(values);
  ASSERT_NE(want, 0.0);
  const ScopedFloatEnv env;  // it flushes; the sum does not
  EXPECT_EQ(Bits(SumOf(values).Round()), Bits(want));
}

TEST(ExactSumTest, N6TiesOverflowAndSpecials) {
  const double ulp = 0x1p-52;
  EXPECT_EQ(SumOf({1.0, ulp / 2}).Round(), 1.0);
  EXPECT_EQ(SumOf({1.0 + ulp, ulp / 2}).Round(), 1.0 + 2 * ulp);
  EXPECT_EQ(SumOf({1.0, ulp / 2, 0x1p-1074}).Round(), 1.0 + ulp);
  EXPECT_EQ(SumOf({-1.0, -ulp / 2, -0x1p-1074}).Round(), -1.0 - ulp);
  EXPECT_EQ(Bits(SumOf({-0.0}).Round()), Bits(0.0));
  EXPECT_EQ(Bits(SumOf({5.0, -5.0}).Round()), Bits(0.0));
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(SumOf({largest, largest}).Round(), kInfinity);
  EXPECT_EQ(SumOf({largest, largest, -largest}).Round(), largest);
  EXPECT_EQ(SumOf({-largest, -largest}).Round(), -kInfinity);
  EXPECT_EQ(SumOf({1.0, -kInfinity}).Round(), -kInfinity);
  EXPECT_TRUE(std::isnan(SumOf({kInfinity, -kInfinity}).Round()));
  EXPECT_TRUE(std::isnan(SumOf({kInfinity, std::nan("")}).Round()));
}

TEST(ExactSumTest, N6WordsOfRanksAddUpAsIntegers) {
  const std::vector<double> values = Spread(3, 1000, 0, 400);
  const ExactSum whole = SumOf(values);
  for (const size_t ranks : {1, 2, 3, 8}) {
    std::vector<ExactSum> parts(ranks);
    for (size_t i = 0; i < values.size(); ++i) {
      parts[i * 7 % ranks].Add(values[i]);
    }
    std::array<int64_t, ExactSum::kWords> words = {};
    ExactSum merged;
    for (const ExactSum& part : parts) {
      const auto share = part.Words();
      for (int w = 0; w < ExactSum::kWords; ++w) words[w] += share[w];
      merged.Merge(part);
    }
    EXPECT_EQ(ExactSum::FromWords(words).Words(), whole.Words());
    EXPECT_EQ(merged.Words(), whole.Words());
  }
}

// Doubling by merging stands for more additions than a test can make.
TEST(ExactSumTest, N6NoOverflowOfTheLimbs) {
  ExactSum sum = SumOf({1.0 + 0x1p-52, -0x1p-60, 0x1p-900});
  const double start = sum.Round();
  for (int i = 0; i < 62; ++i) {
    const ExactSum copy = sum;
    sum.Merge(copy);
  }
  EXPECT_EQ(sum.Round(), start * 0x1p+62);
  ExactSum negative = SumOf({-1.0});
  for (int i = 0; i < 62; ++i) negative.Merge(ExactSum(negative));
  EXPECT_EQ(negative.Round(), -0x1p+62);
}

TEST(ExactSumTest, N6SquaresAreExact) {
  std::vector<float> values(300001);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto bits = static_cast<uint32_t>(Draw64(9, i));
    values[i] = std::bit_cast<float>(bits);
    if (!std::isfinite(values[i])) values[i] = 0x1.fffffep+127f;
  }
  values.resize(300001, 0x1.fffffep+127f);
  ExactSum one_by_one;
  for (const float value : values) {
    one_by_one.Add(static_cast<double>(value) * static_cast<double>(value));
  }
  ExactSum at_once;
  at_once.AddSquares(values);
  EXPECT_EQ(at_once.Words(), one_by_one.Words());
  Shuffle(values, 5);
  ExactSum shuffled;
  shuffled.AddSquares(std::span(values).first(123457));
  for (const float value : std::span(values).subspan(123457)) {
    shuffled.AddSquare(value);
  }
  EXPECT_EQ(shuffled.Words(), one_by_one.Words());
}

// The fullest bins there can be: the largest significand, all in one exponent.
TEST(ExactSumTest, N6SquaresFillNoBinToOverflow) {
  for (const size_t n : {size_t{1} << 18, (size_t{1} << 18) - 1}) {
    const std::vector<float> values(n, 0x1.fffffep+0f);
    ExactSum sum;
    sum.AddSquares(values);
    const double square = 0x1.fffffep+0 * 0x1.fffffep+0;
    ExactSum want;
    for (size_t i = 0; i < n; ++i) want.Add(square);
    EXPECT_EQ(sum.Words(), want.Words());
  }
}

TEST(ExactSumTest, N6SquaresOfSpecials) {
  const float infinity = std::numeric_limits<float>::infinity();
  ExactSum sum;
  sum.AddSquare(-infinity);
  EXPECT_EQ(sum.Round(), kInfinity);
  sum.AddSquare(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(std::isnan(sum.Round()));
}

}  // namespace
}  // namespace lockstep
