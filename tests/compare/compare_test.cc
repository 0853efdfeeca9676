// `lockstep compare` on whole runs: what it refuses to take for matched
// samples, and what it says of those that are.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/compare/compare_for_test.h"

namespace lockstep {
namespace {

// Refused with 3 by `pattern`; admitted with a reason, and still told.
void ExpectUnmatched(const Names& baseline, const Names& candidate,
                     const std::string& pattern) {
  CompareOptions options = {
      .baseline = baseline, .candidate = candidate, .min_effect = 0.01};
  const auto refused = CompareVerb(options);
  EXPECT_EQ(ExitCodeFor(refused.status()), 3) << pattern;
  EXPECT_TRUE(absl::StrContains(refused.status().message(), pattern))
      << pattern << ": " << refused.status().message();
  options.allow_unmatched = "a test";
  const Json told = Compared(options);
  ASSERT_FALSE(told["unmatched"].empty()) << pattern;
  EXPECT_EQ(told["unmatched_reason"], "a test");
  EXPECT_TRUE(absl::StrContains(told["unmatched"].dump(), pattern))
      << told["unmatched"];
}

class CompareTest : public testing::Test {
 protected:
  Names base_ = {Trained("base_1", Seed(1)), Trained("base_2", Seed(2))};
  Names other_ = {Trained("other_1", Seed(1, {"optimizer.lr=1e-3"})),
                  Trained("other_2", Seed(2, {"optimizer.lr=1e-3"}))};
};

TEST_F(CompareTest, MatchedArmsAreComparedOnTheirHeldOutLoss) {
  const Json told =
      Compared({.baseline = base_, .candidate = other_, .min_effect = 1e-6});
  EXPECT_EQ(told["unmatched"].size(), 0u) << told["unmatched"];
  EXPECT_TRUE(told["unmatched_reason"].is_null());
  EXPECT_EQ(told["compared"].size(), 1u) << told["compared"];
  EXPECT_TRUE(absl::StrContains(told["compared"].dump(), "optimizer.lr"));
  // A third of the rate leaves the model behind.
  EXPECT_LT(told["delta"].get<double>(), 0);
  EXPECT_TRUE(told["t"].is_number() && told["dof"].is_number() &&
              told["p"].is_number());
  EXPECT_LT(told["interval"][0], told["interval"][1]);
  EXPECT_EQ(told["baseline"]["evaluated_now"].size(), 2u);
  const auto text =
      CompareVerb({.baseline = base_, .candidate = other_, .min_effect = 1e-6});
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(absl::StrContains(text->text, "degrees of freedom"));
  EXPECT_TRUE(absl::StrContains(text->text, "compared:"));
  EXPECT_TRUE(text->negative);  // regressed, or not enough to say
}

// The same number, whether the run wrote it down or it is evaluated now.
TEST_F(CompareTest, AnEvaluationDoneNowIsTheOneOfTheRun) {
  const std::string written =
      Trained("written", Seed(1, {"eval.every=3", "parallel.overlap=false"}));
  CompareOptions options = {.baseline = {base_[0]},
                            .candidate = {written},
                            .min_effect = 0.01,
                            .allow_unmatched = "one run, watched"};
  const Json told = Compared(options);
  EXPECT_EQ(told["delta"], 0.0);
  EXPECT_EQ(told["baseline"]["evaluated_now"].size(), 1u);
  EXPECT_EQ(told["candidate"]["evaluated_now"].size(), 0u);
  // An evaluation of an earlier step is not the final one.
  const TrainRig early("early");
  early.Unseed(Seed(1, {"eval.every=2"}));
  options.candidate = {early.dir()};
  EXPECT_EQ(Compared(options)["delta"], 0.0);
  // And without the checkpoint there is none.
  std::filesystem::remove_all(early.dir() + "/checkpoints");
  const auto none = CompareVerb(options);
  EXPECT_EQ(ExitCodeFor(none.status()), 2);
  EXPECT_TRUE(absl::StrContains(none.status().message(), "not evaluated"));
}

// Of two samples the standard error can be worked out from their two losses;
// the comparison tells it apart from the noise of seeds.
TEST(CompareEvaluationTest, TheStandardErrorIsThatOfTheSamples) {
  Json lines[2];
  Names runs;
  for (const int samples : {1, 2}) {
    const TrainRig rig(absl::StrCat("evaluated_", samples));
    rig.Unseed(
        Seed(1, {"eval.every=3", absl::StrCat("eval.samples=", samples)}));
    lines[samples - 1] = Json::parse(rig.Read("eval.jsonl"));
    runs.push_back(rig.dir());
  }
  EXPECT_TRUE(lines[0]["standard_error"].is_null());
  const double n1 = lines[0]["tokens"], n = lines[1]["tokens"];
  const double loss = lines[1]["loss"];
  const double deviation = lines[0]["loss"].get<double>() * n1 - loss * n1;
  // The other sample deviates by as much, the other way.
  const double wanted = 2 * std::abs(deviation) / n;
  ASSERT_GT(wanted, 1e-3);
  EXPECT_NEAR(lines[1]["standard_error"].get<double>(), wanted, 1e-9);
  const Json told = Compared({.baseline = {runs[1]},
                              .candidate = {runs[1]},
                              .min_effect = 1e-6,
                              .allow_unmatched = "one run"});
  EXPECT_EQ(told["evaluation_standard_error"], lines[1]["standard_error"]);
}

TEST_F(CompareTest, WhatIsNoMatchIsRefusedUnlessSomebodySaysWhy) {
  // Within an arm.
  ExpectUnmatched({base_[0], other_[1]}, other_, "optimizer.lr");
  ExpectUnmatched({base_[0], Trained("again", Seed(1))}, other_,
                  "counts one sample twice");
  // Between the arms.
  const std::string other_data =
      Trained("other_data", Seed(3, {"data.source.0.document_bytes=2048"}));
  ExpectUnmatched(base_, {other_data}, "data.");
  ExpectUnmatched(base_, {base_[0]}, "stands in both arms");
  RigOptions longer = Seed(3);
  longer.steps = 4;
  ExpectUnmatched(base_, {Trained("longer", longer)}, "length: trained on");
}

TEST_F(CompareTest, WhatHappenedToARunIsAskedAbout) {
  RigOptions skips = Seed(3);
  skips.skip_samples = {"4-7"};
  ExpectUnmatched(base_, {Trained("skips", skips)},
                  "skip_list: passes over samples 4-7");
  RigOptions fork = Seed(1);
  fork.fork = base_[0] + "/checkpoints/step_00000003";
  fork.steps = 5;
  fork.allow = {"dirty"};
  ExpectUnmatched(base_, {Trained("fork", fork)}, "fork: from checkpoint");
  RigOptions fault = Seed(3);
  fault.faults = {
      "kind=flip,step=2,at=layers.0.mixer.in_proj.forward,element=3,bit=2"};
  ExpectUnmatched(base_, {Trained("fault", fault)}, "fault: on purpose");
}

// A run that lost ranks on its way is another sample below the rung that does
// not know layouts, and the same one there.
TEST(CompareLayoutTest, ALayoutThatChangedHalfWay) {
  for (const std::string rung : {"bitwise", "layout_invariant"}) {
    const TrainRig moved("moved_" + rung);
    RigOptions options = Seed(3, {"guarantee=" + rung});
    options.threads = 1;
    options.ranks = 2;
    options.until = 2;
    moved.Unseed(options);
    options.ranks = 1;
    options.until = std::nullopt;
    options.allow = {"dirty", "layout"};
    moved.Unseed(options);
    RigOptions straight = Seed(4, {"guarantee=" + rung});
    const Names base = {Trained("straight_" + rung, straight)};
    if (rung == "bitwise") {
      ExpectUnmatched(base, {moved.dir()},
                      "layout: changed after step 2: data 2 x pipeline 1 x "
                      "tensor 1 -> data 1 x pipeline 1 x tensor 1, a new "
                      "lineage");
      continue;
    }
    const Json told = Compared(
        {.baseline = base, .candidate = {moved.dir()}, .min_effect = 0.01});
    EXPECT_TRUE(told["unmatched"].empty()) << told["unmatched"];
  }
}

}  // namespace
}  // namespace lockstep
