// Which samples a run consumed, told from what it wrote.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tests/cases/small_run.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

// Samples in the order they were consumed.
std::vector<SampleLocation> Flat(
    const std::vector<std::vector<SampleLocation>>& steps) {
  std::vector<SampleLocation> all;
  for (const auto& step : steps)
    all.insert(all.end(), step.begin(), step.end());
  return all;
}

// A loader rebuilt in a later epoch skipped in the first one's order: some
// samples came twice, others never (huggingface/accelerate#2016);
// or every later epoch was short by what was skipped in one
// (huggingface/accelerate#1451, allenai/open-instruct#681).
TEST(OrderCaseTest, EveryEpochHasEverySampleOnceWhereverTheRunWasCut) {
  const RigOptions options = {.recipe = SmallRecipe("union", 10),
                              .sets = {"batch.global=2", "batch.micro=1"},
                              .steps = 15};
  const TrainRig unbroken = SmallRig("union_unbroken");
  unbroken.Unseed(options);
  for (const int64_t cut : {4, 5, 6, 8, 10, 13}) {
    const TrainRig rig = SmallRig(absl::StrCat("union_cut", cut));
    RigOptions part = options;
    part.until = cut;
    rig.Unseed(part);
    rig.Unseed(options);
    EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics())) << cut;
    const auto samples = Flat(Consumed(rig, options));
    ASSERT_EQ(samples.size(), 30u);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::set<int64_t> seen;
      for (int64_t i = 10 * epoch; i < 10 * epoch + 10; ++i) {
        EXPECT_EQ(samples[i].epoch, epoch);
        seen.insert(samples[i].sample);
      }
      EXPECT_EQ(seen.size(), 10u) << "epoch " << epoch << ", cut " << cut;
      EXPECT_EQ(*seen.rbegin(), 9);
    }
  }
}

// A change of batch was a change of order, and where to go on was counted in
// steps (allenai/OLMo-core#273, allenai/OLMo#176).
TEST(OrderCaseTest, AnotherBatchGoesOnAtTheNextSampleOfTheSameOrder) {
  RigOptions options = {.recipe = SmallRecipe("wider", 97),
                        .sets = {"batch.global=8"},
                        .steps = 8,
                        .until = 4};
  const TrainRig rig = SmallRig("wider"), narrow = SmallRig("narrow");
  rig.Unseed(options);
  options.sets = {"batch.global=12", "batch.micro=3"};
  options.until = 8;
  options.allow = {"dirty", "batch", "layout", "schedule"};
  const RigResult result = rig.Train(options);
  ASSERT_TRUE(result.status.ok()) << std::string(result.status.message());
  const auto wide = Flat(Consumed(rig, options));
  ASSERT_EQ(wide.size(), 4u * 8 + 4u * 12);
  const RigOptions reference = {.recipe = options.recipe, .steps = 20};
  narrow.Unseed(reference);
  const auto want = Flat(Consumed(narrow, reference));
  ASSERT_EQ(want.size(), wide.size());
  std::set<int64_t> seen;
  for (size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(wide[i].sample, want[i].sample) << i;
    seen.insert(wide[i].sample);
  }
  EXPECT_EQ(seen.size(), 80u);  // none twice
}

// Somebody wanted longer sequences in mid-run, and nothing said what becomes of
// the tokens already seen (NVIDIA/Megatron-LM#1002). Here it is refused.
TEST(OrderCaseTest, AnotherSequenceLengthInMidRunIsRefused) {
  const TrainRig rig = SmallRig("longer_sequence");
  RigOptions options = {
      .recipe = SmallRecipe("longer_sequence", 97), .steps = 12, .until = 6};
  rig.Unseed(options);
  const std::vector<std::string> before = rig.Metrics();
  options.sets = {"data.sequence=32"};
  options.until = 12;
  const RigResult result = rig.Train(options);
  EXPECT_EQ(ExitCodeFor(result.status), 3);
  EXPECT_TRUE(absl::StrContains(result.status.message(), "data.sequence"))
      << result.status.message();
  EXPECT_TRUE(SameLines(rig.Metrics(), before));
}

// The old cursor was applied to a new corpus (NVIDIA-NeMo/RL#2519).
TEST(OrderCaseTest, AnotherCorpusAtAResumeIsRefusedByBothHashes) {
  const std::string prefix = WriteSamples("corpus", 30);
  const std::string recipe = WriteSmallRecipe("corpus", SourceOf(prefix));
  const TrainRig rig = SmallRig("corpus");
  RigOptions options = {.recipe = recipe, .steps = 12, .until = 5};
  rig.Unseed(options);
  const std::vector<std::string> before = rig.Metrics();
  const std::string old =
      Json::parse(rig.Read("manifest.json"))["data"][0]["sha256"]
          .get<std::string>();
  options.until = 12;
  for (const int64_t samples : {30, 7}) {  // as long, and shorter
    WriteSamples("corpus", samples, /*salt=*/5);
    for (const bool allowed : {false, true}) {
      RigOptions other = options;
      if (allowed) other.allow = {"dirty", "data"};
      const RigResult result = rig.Train(other);
      EXPECT_EQ(ExitCodeFor(result.status), 3) << samples;
      EXPECT_TRUE(absl::StrContains(result.status.message(), old.substr(0, 8)))
          << result.status.message();
    }
    EXPECT_TRUE(SameLines(rig.Metrics(), before));
  }
  // A start from nothing with the new corpus is a start at sample 0.
  options.resume = "never";
  rig.Unseed(options);
  EXPECT_EQ(Lines(rig)[0]["sample_first"], 0);
}

}  // namespace
}  // namespace lockstep
