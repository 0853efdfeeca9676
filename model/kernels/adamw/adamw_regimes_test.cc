// N1, N6, N10: the formulas of adamw.h, byte for byte, on hostile numbers and
// odd counts, alone and in a larger run of parameters.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/float_env.h"
#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/adamw/adamw_testing.h"
#include "model/kernels/regimes.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

AdamWState Hostile(int64_t count, Regime regime) {
  return {RegimeFloats(count, regime, 1), RegimeFloats(count, regime, 2),
          RegimeFloats(count, regime, 3), RegimeFloats(count, regime, 4)};
}

AdamWState Part(const AdamWState& all, int64_t first, int64_t count) {
  const auto cut = [=](const std::vector<float>& from) {
    return std::vector<float>(from.begin() + first,
                              from.begin() + first + count);
  };
  return {cut(all.grad), cut(all.master), cut(all.m), cut(all.v)};
}

std::vector<TestMatrix> Reference(const AdamWState& state, DType runtime) {
  const ScopedFloatEnv env;
  const AdamWArgs a = AdamWHyper();
  std::vector<TestMatrix> out = AdamWOutputs(state, runtime);
  for (int64_t i = 0; i < state.count(); ++i) {
    const float g = state.grad[i] * static_cast<float>(a.clip);
    const float m = static_cast<float>(a.beta1) * state.m[i] +
                    static_cast<float>(1 - a.beta1) * g;
    const float v = static_cast<float>(a.beta2) * state.v[i] +
                    static_cast<float>(1 - a.beta2) * (g * g);
    const float root = std::sqrt(v / static_cast<float>(a.bias_correction2));
    const float up = (m / static_cast<float>(a.bias_correction1)) /
                         (root + static_cast<float>(a.eps)) +
                     static_cast<float>(a.weight_decay) * state.master[i];
    const float p = state.master[i] - static_cast<float>(a.lr) * up;
    out[0].Set(0, i, p);
    out[1].Set(0, i, m);
    out[2].Set(0, i, v);
    out[3].Set(0, i, p);
  }
  return out;
}

TEST(AdamWRegimesTest, N1N2N6N10EveryRegimeAndCountFollowsTheFormulas) {
  std::vector<int64_t> counts(std::begin(kOddExtents), std::end(kOddExtents));
  counts.push_back(20011);
  for (const DType dtype : kStorageTypes) {
    for (const Regime regime : kAllRegimes) {
      for (const int64_t count : counts) {
        const AdamWState state = Hostile(count, regime);
        const auto want = Reference(state, dtype);
        const auto got = RunAdamWEverywhere(state, dtype);
        for (int i = 0; i < 4; ++i) {
          ExpectSameMatrix(want[i], got[i],
                           "output " + std::to_string(i) + ", " +
                               NameOf(regime) + ", " + std::to_string(count));
        }
      }
    }
  }
}

TEST(AdamWRegimesTest, N1APartAloneGivesWhatItGivesInTheWhole) {
  const AdamWState all = Hostile(50021, Regime::kUniform);
  const auto whole = RunAdamWEverywhere(all, DType::kBF16);
  for (const int64_t count : {1, 33, 8193}) {
    const int64_t first = 16381;
    const auto part = RunAdamWEverywhere(Part(all, first, count), DType::kBF16);
    int64_t differing = 0;
    for (int i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < count; ++j) {
        // NaN where a second moment was negative.
        const double a = whole[i].At(0, first + j), b = part[i].At(0, j);
        differing += a == b || (std::isnan(a) && std::isnan(b)) ? 0 : 1;
      }
    }
    EXPECT_EQ(differing, 0) << "of " << 4 * count;
  }
}

}  // namespace
}  // namespace lockstep
