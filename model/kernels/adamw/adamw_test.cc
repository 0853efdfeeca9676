#include "model/kernels/adamw/adamw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/device.h"
#include "model/kernels/adamw/adamw_testing.h"
#include "model/kernels/golden_reader.h"
#include "model/kernels/testing.h"

namespace lockstep {
namespace {

constexpr int64_t kCount = 70001;

AdamWState RandomState() {
  return {RandomFloats(kCount, 1), RandomFloats(kCount, 2, -2, 2),
          RandomFloats(kCount, 3, -0.1f, 0.1f),
          RandomFloats(kCount, 4, 0, 0.01f)};
}

TEST(AdamWTest, N1N10SameBytesEverywhereAndOneConversion) {
  const AdamWState state = RandomState();
  for (const DType dtype : kStorageTypes) {
    const auto out = RunAdamWEverywhere(state, dtype);
    ExpectSameMatrix(Converted(out[0], dtype), out[3], NameOf(dtype));
  }
}

TEST(AdamWTest, N6FollowsTheWrittenOrder) {
  const AdamWState state = RandomState();
  const auto out = RunAdamWEverywhere(state, DType::kF32);
  const AdamWArgs a = AdamWHyper();
  int64_t differing = 0;
  for (int64_t i = 0; i < kCount; ++i) {
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
    differing += p != static_cast<float>(out[0].At(0, i)) ||
                 m != static_cast<float>(out[1].At(0, i)) ||
                 v != static_cast<float>(out[2].At(0, i));
  }
  EXPECT_EQ(differing, 0) << "of " << kCount;
}

// torch.optim.AdamW in binary64, twenty steps, every second one clipped.
void ExpectGolden(const std::string& name, double weight_decay) {
  const GoldenFile golden("adamw.safetensors");
  std::vector<float> master = golden.Floats("adamw/start/" + name);
  const int64_t n = static_cast<int64_t>(master.size());
  std::vector<float> m(n), v(n);
  const std::vector<float> grads = golden.Floats("adamw/grad/" + name);
  Device device(1, BestIsa());
  double power1 = 1, power2 = 1, moved = 0;
  for (int64_t step = 0; step < 20; ++step) {
    AdamWArgs args{.n = n, .grad = grads.data() + step * n};
    args.master = master.data();
    args.m = m.data();
    args.v = v.data();
    args.lr = golden.Doubles("adamw/rate")[step];
    args.beta1 = 0.9;
    args.beta2 = 0.95;
    args.eps = 1e-8;
    args.weight_decay = weight_decay;
    args.clip = std::min(1.0, 1 / (golden.Doubles("adamw/norm")[step] + 1e-6));
    args.bias_correction1 = 1 - (power1 *= args.beta1);
    args.bias_correction2 = 1 - (power2 *= args.beta2);
    AdamW(device, args);
    const std::vector<double>& all = golden.Doubles("adamw/param/" + name);
    const std::vector<double> want(all.begin() + step * n,
                                   all.begin() + (step + 1) * n);
    // An update is at most about lr * (1 / (1 - beta1) + decay * |p|) and has
    // fewer than 16 roundings; the subtraction rounds p once more a step.
    moved += args.lr * (10 + weight_decay * MaxAbs(want));
    const double bound =
        0x1p-24 * (16 * moved + static_cast<double>(step + 1) * MaxAbs(want));
    EXPECT_LE(MaxError(master.data(), want), bound) << name << " " << step;
  }
}

TEST(AdamWTest, MeetsTheOracle) {
  ExpectGolden("matrix", 0.1);
  ExpectGolden("vector", 0.0);
}

}  // namespace
}  // namespace lockstep
