// Samples that are read ahead of the step that consumes them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

std::vector<std::string> ReadAhead(int64_t batches, int64_t threads) {
  return {absl::StrCat("data.prefetch=", batches),
          absl::StrCat("data.prefetch_threads=", threads),
          "model.hidden_dropout=0.1"};
}

// The loader was some batches ahead, and what it had fetched counted as
// consumed (huggingface/accelerate#3034, meta-pytorch/data#1520); or the first
// batches were fetched before random state was restored
// (huggingface/transformers#46628). Stopped at step 5 of an order that ends an
// epoch in step 8, under every number of batches and threads, and once under
// another number than before.
TEST(PrefetchCaseTest, WhatWasReadAheadIsNotConsumed) {
  const std::string recipe = SmallRecipe("ahead", 30);
  const RigOptions plain = {
      .recipe = recipe, .sets = ReadAhead(0, 0), .steps = 12};
  const TrainRig unbroken = SmallRig("ahead_not");
  unbroken.Unseed(plain);
  int64_t lines = 0;
  for (const int64_t batches : {1, 4}) {
    for (const int64_t threads : {0, 1, 3}) {
      RigOptions options = plain;
      options.sets = ReadAhead(batches, threads);
      lines += ExpectUnbroken(absl::StrCat("ahead", batches, "_", threads),
                              options, {5, 8}, unbroken);
    }
  }
  EXPECT_EQ(lines, 6 * 12);
  const TrainRig rig = SmallRig("ahead_changed");
  RigOptions options = plain;
  for (const int64_t stop : {3, 5, 9, 12}) {
    options.sets = ReadAhead(stop % 5, 1 + stop % 3);
    options.until = stop;
    rig.Unseed(options);
    EXPECT_EQ(CounterOf(rig, stop, "run/cursor"), 4u * stop);
  }
  EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics()));
}

// A stage began early, since the loader asked ahead of the step
// (marin-community/levanter#876): four batches ahead, step 6 has samples of the
// first stage alone, and step 7 of the second.
TEST(PrefetchCaseTest, AStageBeginsAtItsStepHoweverFarAheadIsRead) {
  const RigOptions options = {
      .recipe = WriteSmallRecipe(
          "ahead_stage",
          "[[data.weights_schedule]]\nfrom_sample = 24\nweights = [0, 1]\n" +
              SourceOf(WriteSamples("ahead_a", 10, 1)) +
              SourceOf(WriteSamples("ahead_b", 10, 2), "weight = 0\n")),
      .sets = ReadAhead(4, 2),
      .steps = 12};
  const TrainRig rig = SmallRig("ahead_stage");
  rig.Unseed(options);
  const auto steps = Consumed(rig, options);
  ASSERT_EQ(steps.size(), 12u);
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const SampleLocation &at : steps[i]) {
      EXPECT_EQ(at.source, i < 6 ? 0 : 1) << "step " << i + 1;
    }
  }
}

}  // namespace
}  // namespace lockstep
