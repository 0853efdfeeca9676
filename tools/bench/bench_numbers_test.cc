// The benches of products and steps, on small ones: what they say adds up.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "determinism/clock.h"
#include "determinism/environment.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "model/device.h"
#include "tools/bench/benches.h"
#include "tools/bench/step_profile.h"

namespace lockstep {
namespace {

TEST(BenchGemmTest, ACubeHasARateAndAPeakForEachNumberOfThreads) {
  const auto cases =
      BenchGemm({.threads = 2, .rounds = 1, .only = "F32 NT 1024"});
  ASSERT_TRUE(cases.ok()) << std::string(cases.status().message());
  ASSERT_EQ(cases->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const BenchCase& c = (*cases)[i];
    EXPECT_EQ(c.threads, static_cast<int>(i) + 1);
    EXPECT_EQ(c.name, "F32 NT 1024x1024x1024");
    EXPECT_GT(c.rate, 0);
    EXPECT_GT(c.probe, 0);
    EXPECT_EQ(c.ratio, c.rate / c.probe);
  }
}

TEST(BenchGemmTest, LeavesOnTheGridHaveTheFp32LoopForAProbe) {
  const auto cases =
      BenchGemm({.rounds = 1, .only = "leaves BF16 out_proj TN"});
  ASSERT_TRUE(cases.ok()) << std::string(cases.status().message());
  ASSERT_EQ(cases->size(), 1u);
  EXPECT_GT((*cases)[0].ratio, 0);
  EXPECT_EQ(ExitCodeFor(BenchGemm({.only = "no such case"}).status()), 2);
}

TEST(BenchStepTest, SharesOfPhasesAndOfKindsAddUpToTheStep) {
  const auto cases =
      BenchStep({.rounds = 1,
                 .recipe = "recipes/debug.toml",
                 .sets = {"precision.mode=bf16", "data.sequence=32"}});
  ASSERT_TRUE(cases.ok()) << std::string(cases.status().message());
  double phases = 0, kinds = 0;
  std::map<std::string, BenchCase> by_name;
  for (const BenchCase& c : *cases) {
    if (c.name.rfind("phase ", 0) == 0) phases += c.ratio;
    if (c.name.rfind("kind ", 0) == 0) kinds += c.ratio;
    by_name[c.name] = c;
  }
  EXPECT_NEAR(phases, 1.0, 1e-6);
  EXPECT_NEAR(kinds, 1.0, 1e-6);
  for (const char* name :
       {"phase forward", "phase backward", "phase optimizer", "kind product",
        "kind scan", "kind attention", "kind norm", "kind conv",
        "kind cross-entropy", "kind optimizer"}) {
    EXPECT_GT(by_name[name].ratio, 0) << name;
  }
  EXPECT_GT(by_name["tokens"].rate, 0);
  EXPECT_GT(by_name["tokens at the recipe's batch"].rate, 0);
  EXPECT_GT(by_name["model FLOPs"].ratio, 0);
  for (const char* name :
       {"roofline scan forward", "roofline scan backward",
        "roofline attention forward", "roofline attention backward"}) {
    EXPECT_GT(by_name[name].probe, 0) << name;
    EXPECT_GE(by_name[name].ratio, 0.5) << name << ": better than the machine";
  }
  EXPECT_EQ(by_name.count("fingerprints"), 1u);
  for (const std::string& what :
       std::vector<std::string>{"clip", "optimizer"}) {
    const BenchCase& once = by_name[what + " at the recipe's batch"];
    EXPECT_EQ(once.rate, by_name["phase " + what].rate) << what;
    EXPECT_GT(once.ratio, 0) << what;
    EXPECT_LT(once.ratio, by_name["phase " + what].ratio) << what;
  }
  EXPECT_GE(by_name["peak memory"].ratio, 1);
  EXPECT_LT(by_name["peak memory"].ratio, 10);
}

// Whose recipe does not say how its text is cut into documents.
TEST(BenchStepTest, TheDefaultRecipeIsMeasured) {
  const auto cases = BenchStep(
      {.rounds = 1,
       .only = "peak memory",
       .sets = {"model.pattern=M-", "model.hidden=64", "model.ffn=64",
                "model.mamba_heads=4", "model.mamba_head_dim=16",
                "model.state=16", "model.vocab=257", "data.sequence=64"}});
  ASSERT_TRUE(cases.ok()) << std::string(cases.status().message());
  EXPECT_EQ(cases->size(), 1u);
}

TEST(BenchStepTest, TimeCountsForTheOperationThatEnds) {
  ManualClock clock;
  Device device(1, Isa::kScalar);
  StepProfile profile(device, clock);
  profile.Begin();
  const auto operation = [&](const char* name, Phase phase, int64_t ms) {
    clock.AdvanceMillis(ms);
    OperationEvent event;
    event.operation = name;
    event.phase = phase;
    profile.OnOperation(event);
  };
  operation("in_proj", Phase::kForward, 8);
  operation("ssd_scan", Phase::kForward, 4);
  operation("ssd_scan", Phase::kBackward, 2);
  profile.Ended(StepPart::kGradients);
  clock.AdvanceMillis(1);
  profile.Ended(StepPart::kUpdate);
  const StepTimes times = profile.End();
  EXPECT_NEAR(times.seconds, 0.015, 1e-12);
  EXPECT_NEAR(times.tail, 0.001, 1e-12);
  EXPECT_NEAR(times.by_phase[static_cast<int>(Phase::kForward)], 0.012, 1e-12);
  EXPECT_NEAR(times.by_kind[static_cast<int>(StepKind::kScan)], 0.006, 1e-12);
  EXPECT_NEAR(times.by_kind[static_cast<int>(StepKind::kProduct)], 0.008,
              1e-12);
  EXPECT_NEAR(times.after, 0.001, 1e-12);
  EXPECT_EQ(KindOf("lookup"), StepKind::kOther);
}

}  // namespace
}  // namespace lockstep
