// A run that stopped and went on is the run that never stopped.
//
// Stopped after any step and resumed, once and three times over, in every
// precision, metrics.jsonl equals the unbroken run's (the kind of fault behind
// huggingface/transformers#17032, pytorch/torchtitan#3907 and many more).
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

constexpr int64_t kSteps = 6;

class ResumeTest : public testing::TestWithParam<std::string> {
 protected:
  RigOptions Options() const {
    RigOptions options;
    options.steps = kSteps;
    options.sets = {absl::StrCat("precision.mode=", GetParam()),
                    "model.hidden_dropout=0.1"};
    return options;
  }
  void SetUp() override {
    unseed_ = unbroken_.Unseed(Options());
    metrics_ = unbroken_.Metrics();
  }

  TrainRig unbroken_{GetParam() + "_unbroken"};
  std::string unseed_;
  std::vector<std::string> metrics_;
};

TEST_P(ResumeTest, AfterAnyStepOnce) {
  for (int64_t stop = 1; stop < kSteps; ++stop) {
    const TrainRig rig(absl::StrCat(GetParam(), "_stop", stop));
    RigOptions options = Options();
    options.until = stop;
    rig.Unseed(options);
    EXPECT_EQ(rig.Metrics().size(), static_cast<size_t>(stop));
    EXPECT_EQ(rig.Unseed(Options()), unseed_) << "stopped after " << stop;
    EXPECT_EQ(rig.Metrics(), metrics_) << "stopped after " << stop;
  }
}

TEST_P(ResumeTest, ThreeTimesWithOtherThreadsAndMicroBatches) {
  const TrainRig rig(GetParam() + "_thrice");
  RigOptions options = Options();
  int64_t micro = 1;
  for (const int64_t stop : {1, 3, 4}) {
    options.until = stop;
    options.threads = stop;
    options.sets = Options().sets;
    options.sets.push_back(absl::StrCat("batch.micro=", micro *= 2));
    options.allow = {"dirty", "layout", "batch.micro"};
    rig.Unseed(options);
  }
  EXPECT_EQ(rig.Unseed(Options()), unseed_);
  EXPECT_EQ(rig.Metrics(), metrics_);
}

INSTANTIATE_TEST_SUITE_P(Modes, ResumeTest,
                         testing::Values("fp32", "bf16", "fp16"),
                         [](const auto& info) { return info.param; });

// recipes/debug.toml as it is shipped: any of its steps is a place to stop.
TEST(DebugRecipeTest, StoppedAfterAnyOfItsSteps) {
  constexpr int64_t kDebugSteps = 20;
  const TrainRig unbroken("debug_unbroken", TrainRig::kAsShipped);
  const std::string unseed = unbroken.Unseed({});
  const std::vector<std::string> metrics = unbroken.Metrics();
  ASSERT_EQ(metrics.size(), static_cast<size_t>(kDebugSteps));
  for (int64_t stop = 1; stop < kDebugSteps; ++stop) {
    const TrainRig rig(absl::StrCat("debug_stop", stop), TrainRig::kAsShipped);
    rig.Unseed({.until = stop});
    EXPECT_EQ(rig.Unseed({}), unseed) << "stopped after " << stop;
    EXPECT_EQ(rig.Metrics(), metrics) << "stopped after " << stop;
  }
}

TEST(DebugRecipeTest, StoppedThreeTimesOver) {
  const TrainRig unbroken("debug_whole", TrainRig::kAsShipped);
  const std::string unseed = unbroken.Unseed({});
  const TrainRig rig("debug_thrice", TrainRig::kAsShipped);
  for (const int64_t stop : {3, 10, 17}) rig.Unseed({.until = stop});
  EXPECT_EQ(rig.Unseed({}), unseed);
  EXPECT_EQ(rig.Metrics(), unbroken.Metrics());
}

// The tail beyond the checkpoint is moved aside, never overwritten, and the
// steps are trained again to the same bits.
TEST(ResumeTailTest, AnAbandonedTailIsMovedAside) {
  const TrainRig rig("tail");
  const RigOptions options = {.sets = {"checkpoint.every=2"}, .steps = 5};
  const std::string unseed = rig.Unseed(options);
  const std::vector<std::string> metrics = rig.Metrics();
  RigOptions again = options;
  again.resume = rig.dir() + "/checkpoints/step_00000002";
  EXPECT_EQ(rig.Unseed(again), unseed);
  EXPECT_EQ(rig.Metrics(), metrics);
  EXPECT_TRUE(rig.Exists("metrics.jsonl.abandoned-1"));
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "abandoned_tail"));
}

// A step stands there once and after the one before it, or whoever reads the
// file meets two answers: what follows is moved aside, and why is said.
TEST(ResumeTailTest, ALineOutOfOrderOrTornEndsWhatIsKept) {
  const TrainRig rig("order");
  RigOptions options = {.steps = 5, .until = 3};
  rig.Unseed(options);
  const std::string three = rig.Read("metrics.jsonl");
  const std::string last =
      three.substr(three.rfind('\n', three.size() - 2) + 1);
  for (const auto& [text, why] :
       {std::pair(three + last, "from line 4 on, which tells of step 3 after"),
        std::pair(three + "{\"st", "from line 4 on, which is torn,"),
        std::pair(three + "{}\n", "from line 4 on, which tells of no step,")}) {
    rig.Write("metrics.jsonl", text);
    testing::internal::CaptureStderr();
    rig.Unseed(options);
    EXPECT_TRUE(absl::StrContains(testing::internal::GetCapturedStderr(),
                                  absl::StrCat("moved 1 line(s) of "
                                               "metrics.jsonl ",
                                               why)))
        << why;
    EXPECT_EQ(rig.Read("metrics.jsonl"), three);
    EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), why));
  }
}

// thinking-machines-lab/tinker-feedback#127: a restore that restores nothing.
TEST(ResumeTailTest, CanaryAFreshStartIsNotAResume) {
  const TrainRig rig("fresh"), other("other");
  const std::string straight = rig.Unseed({.steps = 4});
  other.Unseed({.steps = 4, .until = 2});
  RigOptions never = {.steps = 4, .until = 2, .resume = "never"};
  const std::string fresh = other.Unseed(never);
  EXPECT_NE(fresh, straight);
}

TEST(ResumeTailTest, AFinishedRunDoesNothing) {
  const TrainRig rig("finished");
  const std::string unseed = rig.Unseed({.steps = 3});
  const std::vector<std::string> metrics = rig.Metrics();
  EXPECT_EQ(rig.Unseed({.steps = 3}), unseed);
  EXPECT_EQ(rig.Metrics(), metrics);
}

// A longer run does not bend the curve of what was trained.
TEST(ResumeTailTest, ALongerRunKeepsItsCurve) {
  const TrainRig longer("longer"), straight("straight");
  longer.Unseed({.steps = 3});
  EXPECT_EQ(longer.Unseed({.steps = 6}), straight.Unseed({.steps = 6}));
  EXPECT_EQ(longer.Metrics(), straight.Metrics());
}

TEST(ResumeRefusalTest, AnotherLearningRateIsRefusedUnlessAllowed) {
  const TrainRig rig("other_lr");
  rig.Unseed({.steps = 4, .until = 2});
  RigOptions other = {.sets = {"optimizer.lr=0.5"}, .steps = 4};
  const RigResult refused = rig.Train(other);
  EXPECT_EQ(ExitCodeFor(refused.status), 3);
  EXPECT_TRUE(absl::StrContains(refused.status.message(), "optimizer.lr"));
  other.allow = {"dirty", "optimizer.lr"};
  other.reason = "the loss stalls";
  other.until = 3;
  rig.Unseed(other);
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "the loss stalls"));
  // Once allowed it is the run's own: going on asks nothing, going back does.
  rig.Unseed({.sets = {"optimizer.lr=0.5"}, .steps = 4});
  EXPECT_EQ(ExitCodeFor(rig.Train({.steps = 6}).status), 3);
}

TEST(ResumeRefusalTest, MustWithoutACheckpointIsExit4) {
  const TrainRig rig("must");
  const RigResult result = rig.Train({.steps = 2, .resume = "must"});
  EXPECT_EQ(ExitCodeFor(result.status), 4);
}

TEST(ResumeRefusalTest, ADirtyBuildIsRefusedUnlessAllowed) {
  const TrainRig rig("dirty");
  RigOptions options = {.steps = 1};
  options.allow = {};
  options.reason = "";
  const RigResult result = rig.Train(options);
  // A test binary is built from whatever tree it is built from; both answers
  // of the rule are checked, each where it applies.
  if (!result.status.ok()) {
    EXPECT_EQ(ExitCodeFor(result.status), 2);
    EXPECT_TRUE(absl::StrContains(result.status.message(), "--allow dirty"));
  }
}

}  // namespace
}  // namespace lockstep
