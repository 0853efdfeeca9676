// A run's bits are a function of its recipe (N4, N5, N6): whatever the layout,
// every line of metrics.jsonl is the one of one rank.
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "tests/layout_matrix/layout_run.h"

namespace lockstep {
namespace {

using Sets = std::vector<std::string>;

// A mode: precision and what makes numbers depend on positions.
Sets SetsOfMode(const std::string& guarantee, const std::string& mode) {
  Sets sets = {"guarantee=" + guarantee, "precision.mode=" + mode,
               "model.hidden_dropout=0.1"};
  // Overflows at first, so that steps are skipped and grids are shifted.
  if (mode == "fp16") sets.push_back("precision.initial_scale=16777216");
  return sets;
}

LayoutCase Case(int data, int pipeline, int64_t micro, const Sets& sets,
                int interleave = 1, int tensor = 1) {
  LayoutCase layout;
  layout.shape = {.data = data, .pipeline = pipeline, .tensor = tensor};
  layout.interleave = interleave;
  layout.micro = micro;
  layout.sets = sets;
  // Until the scale has come down to one that holds, and some steps more.
  if (sets[1] == "precision.mode=fp16") layout.steps = 14;
  return layout;
}

class LayoutTest : public testing::TestWithParam<std::string> {
 protected:
  void ExpectEqual(const LayoutCase& layout) {
    const LayoutResult result = RunLayout(recipe_, layout);
    ASSERT_EQ(result.lines.size(), reference_.lines.size());
    for (size_t i = 0; i < result.lines.size(); ++i) {
      EXPECT_EQ(result.lines[i], reference_.lines[i]) << ToString(layout);
    }
    EXPECT_EQ(result.evaluation, reference_.evaluation) << ToString(layout);
    EXPECT_EQ(result.unseed, reference_.unseed) << ToString(layout);
  }
  const std::string recipe_ = BlendRecipe();
  const Sets sets_ = SetsOfMode("layout_invariant", GetParam());
  const LayoutResult reference_ = RunLayout(recipe_, Case(1, 1, 2, sets_));
};

TEST_P(LayoutTest, N5DataDegreesDoNotMatter) {
  ExpectEqual(Case(2, 1, 2, sets_));
  ExpectEqual(Case(3, 1, 1, sets_));
  ExpectEqual(Case(4, 1, 2, sets_));
  ExpectEqual(Case(2, 1, 4, sets_));
}

TEST_P(LayoutTest, N1PipelineDegreesDoNotMatter) {
  ExpectEqual(Case(1, 2, 1, sets_));
  ExpectEqual(Case(1, 4, 2, sets_));
  ExpectEqual(Case(1, 2, 2, sets_, 2));
}

TEST_P(LayoutTest, BothAxesAndMicroBatches) {
  ExpectEqual(Case(1, 1, 1, sets_));
  ExpectEqual(Case(1, 1, 8, sets_));
  ExpectEqual(Case(3, 2, 2, sets_));
  ExpectEqual(Case(2, 4, 1, sets_));
  LayoutCase recompute = Case(2, 2, 2, sets_);
  recompute.sets.push_back("train.recompute=true");
  ExpectEqual(recompute);
}

TEST_P(LayoutTest, N4TensorDegreesDoNotMatter) {
  ExpectEqual(Case(1, 1, 2, sets_, 1, 2));
  ExpectEqual(Case(1, 1, 4, sets_, 1, 4));
  LayoutCase cut = Case(1, 1, 2, sets_, 1, 2);
  cut.sets.push_back("parallel.sequence=true");
  ExpectEqual(cut);
}

TEST_P(LayoutTest, AllAxes) {
  LayoutCase all = Case(2, 2, 1, sets_, 1, 2);
  all.sets.push_back("parallel.sequence=true");
  ExpectEqual(all);
  ExpectEqual(Case(2, 1, 2, sets_, 1, 4));
}

// Canaries: on another rung the layout shows, and so does another seed.
TEST_P(LayoutTest, CanaryBitwiseKnowsItsLayout) {
  const Sets sets = SetsOfMode("bitwise", GetParam());
  const LayoutResult one = RunLayout(recipe_, Case(1, 1, 2, sets));
  const LayoutResult two = RunLayout(recipe_, Case(2, 1, 2, sets));
  EXPECT_EQ(two, RunLayout(recipe_, Case(2, 1, 2, sets)));
  EXPECT_NE(one.unseed, two.unseed);
  LayoutCase tensor = Case(1, 1, 2, sets, 1, 2);
  tensor.sets.push_back("parallel.sequence=true");
  const LayoutResult three = RunLayout(recipe_, tensor);
  EXPECT_EQ(three, RunLayout(recipe_, tensor));
  EXPECT_NE(one.unseed, three.unseed);
  // Stages change no sum, so there the bits agree on this rung too.
  EXPECT_EQ(one.lines, RunLayout(recipe_, Case(1, 2, 2, sets)).lines);
  Sets other = sets_;
  other.push_back("seed=2");
  EXPECT_NE(RunLayout(recipe_, Case(1, 1, 2, other)).unseed, reference_.unseed);
}

// The lowest rungs add as is quickest; nothing is promised, and it shows.
TEST(LayoutCanaryTest, LowerRungsKnowTheirLayout) {
  const std::string recipe = BlendRecipe();
  for (const std::string guarantee : {"statistical", "state_exact"}) {
    const Sets sets = SetsOfMode(guarantee, "fp32");
    const LayoutResult one = RunLayout(recipe, Case(1, 1, 2, sets));
    EXPECT_NE(one.unseed, RunLayout(recipe, Case(3, 1, 2, sets)).unseed);
    EXPECT_NE(one.unseed, RunLayout(recipe, Case(1, 1, 2, sets, 1, 4)).unseed);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, LayoutTest,
                         testing::Values("fp32", "bf16", "fp16"),
                         [](const auto& info) { return info.param; });

TEST(LayoutReferenceTest, ExercisesWhatItShould) {
  const std::string recipe = BlendRecipe();
  const LayoutResult fp16 =
      RunLayout(recipe, Case(1, 1, 2, SetsOfMode("layout_invariant", "fp16")));
  EXPECT_TRUE(absl::StrContains(fp16.lines[0], "\"skipped\":true"));
  EXPECT_TRUE(absl::StrContains(fp16.lines.back(), "\"skipped\":false"));
  EXPECT_FALSE(absl::StrContains(fp16.lines[0], "\"valid_tokens\":128,"));
}

}  // namespace
}  // namespace lockstep
