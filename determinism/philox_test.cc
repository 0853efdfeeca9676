// N9: random numbers are Philox4x32-10 at a logical position.

#include "determinism/philox.h"

#include <Random123/philox.h>

#include <cmath>
#include <vector>

#include "determinism/cpu_level.h"
#include "determinism/float_env.h"
#include "determinism/philox_kernel.h"
#include "determinism/philox_known_answers.h"
#include "determinism/same_bits.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

TEST(PhiloxTest, N9KnownAnswers) {
  for (const PhiloxKnownAnswer& known : kPhiloxKnownAnswers) {
    EXPECT_EQ(Philox4x32(known.counter, known.key), known.result);
  }
}

TEST(PhiloxTest, N9SameAsRandom123) {
  std::array<uint32_t, 4> counter = {1, 2, 3, 4};
  for (int i = 0; i < 100000; ++i) {
    const std::array<uint32_t, 2> key = {counter[3], counter[1]};
    const r123::Philox4x32::ctr_type theirs = r123::Philox4x32()(
        {{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
    counter = Philox4x32(counter, key);
    for (int lane = 0; lane < 4; ++lane) {
      ASSERT_EQ(counter[lane], theirs[lane]) << i;
    }
  }
}

// As a number: stream 8 | layer 16 | item 56 | element / 4 48.
TEST(PhiloxTest, N9CounterLayout) {
  const std::array<uint32_t, 4> counter =
      CounterOf({.stream = Stream::kHiddenDropout,
                 .layer = 0xabcd,
                 .item = 0x12'3456'789a'bcde,
                 .element = 4 * 0x1234'5678'9abcull + 3});
  const std::array<uint32_t, 4> want = {0x56789abc, 0xbcde1234, 0x3456789a,
                                        0x04abcd12};
  EXPECT_EQ(counter, want);
}

TEST(PhiloxTest, N9SeedIsTheKeyAndElementChoosesTheLane) {
  const RandomPosition at = {Stream::kInit, 7, 11, 4 * 5};
  const uint64_t seed = 0x0123456789abcdef;
  const std::array<uint32_t, 4> block =
      Philox4x32(CounterOf(at), {0x89abcdef, 0x01234567});
  for (uint32_t lane = 0; lane < 4; ++lane) {
    RandomPosition element = at;
    element.element += lane;
    EXPECT_EQ(RandomU32(seed, element), block[lane]);
  }
}

TEST(PhiloxDeathTest, N9PositionsOutsideTheCounterAreRefused) {
  EXPECT_DEATH(CounterOf({Stream::kTest, 0, uint64_t{1} << 56, 0}),
               "LS_CHECK_LT");
  EXPECT_DEATH(CounterOf({Stream::kTest, 0, 0, uint64_t{1} << 50}),
               "LS_CHECK_LT");
}

// The levels agree, also where the counter's low word wraps.
TEST(PhiloxTest, N8N9LevelsAgree) {
  const ScopedFloatEnv env;
  std::vector<PhiloxKernels> fast;
  if (CpuHasAvx2()) fast.push_back(avx2::Philox());
  if (CpuHasAvx512()) fast.push_back(avx512::Philox());
  if (fast.empty()) GTEST_SKIP() << "scalar is the only level here";
  for (const int64_t count : {1, 3, 16, 37, 2000}) {
    for (const uint64_t low : {uint64_t{0}, (uint64_t{1} << 32) - 20}) {
      const PhiloxCounter first = {low, 0x0123456789abcdef};
      std::vector<uint32_t> words(4 * count), want_words(4 * count);
      std::vector<float> normals(4 * count), want_normals(4 * count);
      scalar::Philox().blocks(first, 7, count, want_words.data());
      scalar::Philox().normals(want_words.data(), count, want_normals.data());
      for (const PhiloxKernels& kernels : fast) {
        kernels.blocks(first, 7, count, words.data());
        EXPECT_TRUE(SameBits<uint32_t>(words, want_words));
        kernels.normals(words.data(), count, normals.data());
        EXPECT_TRUE(SameBits<float>(normals, want_normals));
      }
    }
  }
}

// A filled range is the same values, wherever it begins and ends.
TEST(PhiloxTest, N9FillingIsPointwise) {
  const ScopedFloatEnv env;
  for (uint64_t begin = 0; begin < 5; ++begin) {
    for (const size_t n : {1, 2, 3, 4, 5, 11, 1023, 1024, 1025, 2049}) {
      const RandomPosition first = {Stream::kTest, 1, 2, begin};
      std::vector<uint32_t> bits(n), want_bits(n);
      std::vector<float> uniform(n), want_uniform(n), normal(n), want_normal(n);
      FillRandomU32(3, first, bits);
      FillRandomUniform(3, first, uniform);
      FillRandomNormal(3, first, normal);
      for (size_t i = 0; i < n; ++i) {
        RandomPosition at = first;
        at.element += i;
        want_bits[i] = RandomU32(3, at);
        want_uniform[i] = RandomUniform(3, at);
        want_normal[i] = RandomNormal(3, at);
      }
      EXPECT_TRUE(SameBits<uint32_t>(bits, want_bits));
      EXPECT_TRUE(SameBits<float>(uniform, want_uniform));
      EXPECT_TRUE(SameBits<float>(normal, want_normal));
    }
  }
}

// Moments of n draws lie within five standard errors of the true ones.
TEST(PhiloxTest, N9DistributionsHaveTheirMoments) {
  const ScopedFloatEnv env;
  constexpr int kDraws = 1 << 18;
  std::vector<float> uniform(kDraws), normal(kDraws);
  FillRandomUniform(5, {Stream::kTest, 0, 1, 0}, uniform);
  FillRandomNormal(5, {Stream::kTest, 0, 2, 0}, normal);
  double mean_u = 0, mean_n = 0, square_n = 0, fourth_n = 0, pairs = 0;
  for (int i = 0; i < kDraws; ++i) {
    EXPECT_TRUE(uniform[i] >= 0.0f && uniform[i] < 1.0f);
    EXPECT_LT(std::fabs(normal[i]), 5.77f);
    const double z = normal[i];
    mean_u += uniform[i];
    mean_n += z;
    square_n += z * z;
    fourth_n += z * z * z * z;
    pairs += z * normal[i ^ 1];
  }
  const double n = kDraws;
  const double five_errors = 5.0 / std::sqrt(n);
  EXPECT_NEAR(mean_u / n, 0.5, five_errors * std::sqrt(1.0 / 12.0));
  EXPECT_NEAR(mean_n / n, 0.0, five_errors);
  EXPECT_NEAR(square_n / n, 1.0, five_errors * std::sqrt(2.0));
  EXPECT_NEAR(fourth_n / n, 3.0, five_errors * std::sqrt(96.0));
  EXPECT_NEAR(pairs / n, 0.0, five_errors * std::sqrt(2.0));
}

// The exact values, so that a change of formula cannot pass unseen.
TEST(PhiloxTest, N9NormalIsBoxMullerOverLanePairs) {
  const ScopedFloatEnv env;
  for (uint64_t quad = 0; quad < 2000; ++quad) {
    const std::array<uint32_t, 4> block =
        Philox4x32(CounterOf({Stream::kInit, 0, 9, 4 * quad}), {17, 0});
    for (uint32_t lane = 0; lane < 4; ++lane) {
      const double u1 = ((block[lane / 2 * 2] >> 8) + 1) * 0x1p-24;
      const double u2 = (block[lane / 2 * 2 + 1] >> 8) * 0x1p-24;
      const double radius = std::sqrt(-2.0 * std::log(u1));
      const double angle = 2.0 * M_PI * u2;
      const double want =
          radius * (lane % 2 == 0 ? std::cos(angle) : std::sin(angle));
      // The binary32 angle is off by half an ulp of 4..8 at most, the other
      // roundings together by less than four.
      const double bound = radius * (0x1p-22 + 4 * 0x1p-24);
      EXPECT_NEAR(RandomNormal(17, {Stream::kInit, 0, 9, 4 * quad + lane}),
                  want, bound);
    }
  }
}

}  // namespace
}  // namespace lockstep
