// No update passes the bound, and what is scaled does.

#include "ckpt/moment_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/load.h"
#include "ckpt/save.h"
#include "ckpt/test_state.h"
#include "determinism/float_env.h"
#include "determinism/memory_file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// One element as the kernel moves it (adamw.h): fp32, each operation rounded.
struct Element {
  float m = 0, v = 0;

  void Update(const AdamBetas& betas, float g) {
    const auto beta1 = static_cast<float>(betas.first);
    const auto beta2 = static_cast<float>(betas.second);
    const auto rest1 = static_cast<float>(1 - betas.first);
    const auto rest2 = static_cast<float>(1 - betas.second);
    const float square = g * g;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * square;
  }
};

const std::vector<AdamBetas>& SomeBetas() {
  static const auto* const betas =
      new std::vector<AdamBetas>{{0.9, 0.95},   {0.9, 0.999},     {0.95, 0.95},
                                 {0.9, 0.8101}, {0.999, 0.99999}, {0.99, 0.981},
                                 {0.0, 0.5},    {0.5, 0.2501},    {0.0, 0.0}};
  return *betas;
}

// The gradients of step `t` of `steps`, by which m comes closest to the bound,
// those of noise, and those where squares vanish or nearly overflow.
float Gradient(int kind, const AdamBetas& betas, int t, int steps,
               uint64_t& random) {
  random = random * 6364136223846793005u + 1442695040888963407u;
  const double noise = static_cast<double>(random >> 40) * 0x1p-24 - 0.5;
  const double worst =
      betas.first == 0 ? 1
                       : std::pow(betas.first / betas.second, steps - 1 - t);
  switch (kind) {
    case 0:
      return static_cast<float>(worst);
    case 1:
      return static_cast<float>(-1e-12 * worst);
    case 2:
      return static_cast<float>(noise);
    case 3:
      return static_cast<float>(noise * std::pow(10.0, 30 * noise));
    case 4:
      return static_cast<float>(noise * 1e-19);
    case 5:
      return static_cast<float>(noise * 1e-36);
    case 6:
      return static_cast<float>(noise * 1e19);
    default:
      return t == 3 ? 1e18f : static_cast<float>(noise * 1e-22);
  }
}
constexpr int kKinds = 8;

int64_t Beyond(const std::vector<AdamBetas>& betas, int kind, double scale) {
  const auto bound = MomentBound::Of(betas);
  EXPECT_TRUE(bound.has_value());
  constexpr int kSteps = 400;
  Element element;
  uint64_t random = 1;
  int64_t beyond = 0;
  for (int t = 0; t < kSteps; ++t) {
    const AdamBetas& now = betas[static_cast<size_t>(t / 50) % betas.size()];
    element.Update(now, Gradient(kind, now, t, kSteps, random));
    const auto m = static_cast<float>(element.m * scale);
    beyond += bound->Allows(m, element.v) ? 0 : 1;
  }
  return beyond;
}

TEST(MomentBound, NoGradientsPassIt) {
  for (const bool strict : {false, true}) {
    std::optional<ScopedFloatEnv> env;
    if (strict) env.emplace();
    for (int kind = 0; kind < kKinds; ++kind) {
      for (const AdamBetas& betas : SomeBetas()) {
        EXPECT_EQ(Beyond({betas}, kind, 1), 0)
            << betas.first << " " << betas.second << " kind " << kind;
      }
      EXPECT_EQ(Beyond(SomeBetas(), kind, 1), 0) << "in turns, kind " << kind;
    }
  }
}

// The canary: it is no looser than it must be. The gradients that come closest
// come within a thousandth of it.
TEST(MomentBound, AThousandthMoreIsBeyondIt) {
  for (const AdamBetas& betas : SomeBetas()) {
    const double r = betas.first * betas.first / betas.second;
    if (!(std::pow(r, 400) < 1e-4)) continue;  // not there after these steps
    EXPECT_GT(Beyond({betas}, 0, 1.001), 0)
        << betas.first << " " << betas.second;
  }
  EXPECT_EQ(Beyond({{0.9, 0.95}}, 0, 0.999), 0);
}

TEST(MomentBound, WhereThereIsNoneItIsNotMadeUp) {
  EXPECT_FALSE(MomentBound::Of({}).has_value());
  for (const AdamBetas& betas :
       {AdamBetas{0.9, 0.81}, {0.9, 0.5}, {0.5, 0.0}, {0.99999999, 0.9999}}) {
    EXPECT_FALSE(MomentBound::Of({{betas}}).has_value()) << betas.first;
    const std::vector<AdamBetas> two = {{0.9, 0.95}, betas};
    EXPECT_FALSE(MomentBound::Of(two).has_value()) << betas.first;
  }
}

TEST(MomentBound, TheFirstBeyondIsFoundWhereverItIs) {
  const auto bound = MomentBound::Of(std::vector<AdamBetas>{{0.9, 0.95}});
  ASSERT_TRUE(bound.has_value());
  std::vector<float> m(3000, 1.0f), v(3000, 1.0f);
  EXPECT_EQ(bound->FirstBeyond(m.data(), v.data(), 0, 3000), -1);
  for (const size_t at :
       {size_t{0}, size_t{1023}, size_t{1024}, size_t{2999}}) {
    m[at] = at % 2 == 0 ? 1.25f : -1.25f;  // the root of 1.357 is 1.165
    const auto place = static_cast<int64_t>(at);
    EXPECT_EQ(bound->FirstBeyond(m.data(), v.data(), 0, 3000), place);
    EXPECT_EQ(bound->FirstBeyond(m.data(), v.data(), place + 1, 3000), -1);
    m[at] = 1;
  }
  EXPECT_NEAR(bound->Most(1.0f), 1.165, 0.001);
}

// A moment that was scaled in the saver's memory has the right hashes and
// fingerprints: only this finds it.
TEST(MomentBound, ALoadNamesTheScaledMoment) {
  MemoryFileSystem fs;
  MakeRun(fs);
  LoadOptions options;
  options.moments = MomentBound::Of(std::vector<AdamBetas>{{0.9, 0.999}});
  const auto load = [&](float scale, const LoadOptions& how) {
    TestState state(6);
    state.model.m[7] *= scale;
    const auto saved = SaveCheckpoint(fs, OptionsFor(6), state.registry);
    EXPECT_TRUE(saved.ok()) << saved.status();
    TestState loaded(1);
    return LoadCheckpoint(fs, "/run/checkpoints/step_00000006", loaded.registry,
                          how)
        .status();
  };
  EXPECT_TRUE(load(1, options).ok());
  EXPECT_TRUE(load(64, {}).ok());
  const absl::Status status = load(64, options);
  EXPECT_EQ(ExitCodeFor(status), 4) << status;
  EXPECT_NE(Text(status).find("element 7 of model/a.weight.exp_avg is -213"),
            std::string::npos)
      << status;
}

}  // namespace
}  // namespace lockstep
