// Blends and stages as whole runs: which source each step had.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

// The stage's data was always the last stage's (huggingface/nanotron#380); or a
// stage began early, since the loader asked ahead of the step
// (marin-community/levanter#876). Stages begin at steps 1, 5 and 9 here, each
// with a source of its own.
TEST(BlendCaseTest, EachStepHasItsOwnStagesSourceAfterAnyResume) {
  const std::string recipe = WriteSmallRecipe(
      "own_stage",
      absl::StrCat("[[data.weights_schedule]]\nfrom_sample = 16\n"
                   "weights = [0, 1, 0]\n"
                   "[[data.weights_schedule]]\nfrom_sample = 32\n"
                   "weights = [0, 0, 1]\n",
                   SourceOf(WriteSamples("stage_a", 10, 1)),
                   SourceOf(WriteSamples("stage_b", 10, 2), "weight = 0\n"),
                   SourceOf(WriteSamples("stage_c", 10, 3), "weight = 0\n")));
  const RigOptions options = {.recipe = recipe, .steps = 12};
  const TrainRig unbroken = SmallRig("own_stage_unbroken");
  unbroken.Unseed(options);
  int64_t lines = 0;
  for (const int64_t stop : {4, 5, 8, 9}) {
    lines += ExpectUnbroken(absl::StrCat("own_stage", stop), options, {stop},
                            unbroken);
  }
  EXPECT_EQ(lines, 4 * 12);
  const auto steps = Consumed(unbroken, options);
  ASSERT_EQ(steps.size(), 12u);
  for (size_t i = 0; i < steps.size(); ++i) {
    ASSERT_EQ(steps[i].size(), 4u);
    for (const SampleLocation& at : steps[i]) {
      EXPECT_EQ(at.source, static_cast<int64_t>(i / 4)) << "step " << i + 1;
    }
  }
}

// Sources sized before the blend was drawn: an index beyond the end, deep in
// training (NVIDIA/Megatron-LM#705, EleutherAI/gpt-neox#377). 400 draws of 10,
// 20 and 3 samples; each source's share is right at the end of every step.
TEST(BlendCaseTest, SharesAreRightAtEveryStepAndNoSourceEnds) {
  const std::string recipe = WriteSmallRecipe(
      "shares",
      absl::StrCat(SourceOf(WriteSamples("share_a", 10, 1), "weight = 0.49\n"),
                   SourceOf(WriteSamples("share_b", 20, 2), "weight = 0.49\n"),
                   SourceOf(WriteSamples("share_c", 3, 3), "weight = 0.02\n")));
  const RigOptions options = {
      .recipe = recipe, .sets = {"batch.global=8"}, .steps = 50};
  const TrainRig rig = SmallRig("shares");
  rig.Unseed(options);
  const double weights[] = {0.49, 0.49, 0.02};
  std::vector<int64_t> counts(3, 0);
  int64_t draws = 0;
  for (const auto& step : Consumed(rig, options)) {
    for (const SampleLocation& at : step) {
      const auto source = static_cast<size_t>(at.source);
      EXPECT_EQ(at.epoch, counts[source] / (source == 0   ? 10
                                            : source == 1 ? 20
                                                          : 3));
      ++counts[source];
      ++draws;
    }
    for (size_t s = 0; s < 3; ++s) {
      EXPECT_LE(std::abs(static_cast<double>(counts[s]) -
                         weights[s] * static_cast<double>(draws)),
                1.0)
          << "source " << s << " after " << draws;
    }
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{196, 196, 8}));
}

}  // namespace
}  // namespace lockstep
