// N5's protocol on whole runs of one rank: probe, overflow, lost range, resume.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/train/train_rig.h"

namespace lockstep {
namespace {

using Json = nlohmann::json;

RigOptions Grid(const std::vector<std::string>& more = {}) {
  RigOptions options;
  options.sets = {"guarantee=layout_invariant", "model.hidden_dropout=0.1"};
  options.sets.insert(options.sets.end(), more.begin(), more.end());
  return options;
}

// From step 4 on every gradient below the last layer is a million times what it
// would be: far more than the grid leaves room for.
RigOptions Outgrown(const std::vector<std::string>& more = {}) {
  RigOptions options = Grid(more);
  options.faults = {
      "kind=spike,step=4,when=from,occurrence=all,factor=1000000,"
      "at=layers.4.mixer.down_proj.backward"};
  return options;
}

TEST(GridRunTest, N5ThreadsAndMicroBatchesDoNotMatter) {
  for (const std::string mode : {"fp32", "bf16", "fp16"}) {
    const std::string precision = "precision.mode=" + mode;
    const TrainRig reference("grid_" + mode);
    const std::string unseed = reference.Unseed(Grid({precision}));
    for (const int64_t micro : {1, 4, 8}) {
      const TrainRig rig(absl::StrCat("grid_", mode, micro));
      RigOptions options =
          Grid({precision, absl::StrCat("batch.micro=", micro)});
      options.threads = micro;
      EXPECT_EQ(rig.Unseed(options), unseed) << mode << micro;
      EXPECT_TRUE(SameLines(rig.Metrics(), reference.Metrics()));
    }
    // The rung below adds in another way, or nothing of this was tested.
    const TrainRig bitwise("grid_not_" + mode);
    RigOptions lower = Grid({precision});
    lower.sets[0] = "guarantee=bitwise";
    bitwise.Unseed(lower);
    EXPECT_NE(bitwise.Metrics(), reference.Metrics());
  }
}

TEST(GridRunTest, N5ExponentsAreState) {
  const TrainRig unbroken("grid_unbroken");
  const std::string unseed = unbroken.Unseed(Outgrown());
  for (const int64_t stop : {1, 3, 4}) {
    const TrainRig rig(absl::StrCat("grid_stop", stop));
    RigOptions stopped = Outgrown();
    stopped.until = stop;
    rig.Unseed(stopped);
    EXPECT_EQ(rig.Unseed(Outgrown()), unseed) << stop;
    EXPECT_TRUE(SameLines(rig.Metrics(), unbroken.Metrics())) << stop;
  }
}

TEST(GridRunTest, N5AStepThatOutgrowsItsGridIsComputedOnceMore) {
  const TrainRig rig("grid_outgrown");
  const std::string unseed = rig.Unseed(Outgrown());
  const std::vector<std::string> lines = rig.Metrics();
  ASSERT_EQ(lines.size(), 6u);
  int64_t overflows = 0;
  for (const std::string& line : lines) {
    const Json json = Json::parse(line);
    if (!json.contains("grid_overflow")) continue;
    ++overflows;
    EXPECT_EQ(json["step"], 4);
    EXPECT_GT(json["grid_overflow"].size(), 10u);
  }
  EXPECT_EQ(overflows, 1);
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "grid_recompute"));
  const TrainRig other("grid_outgrown_micro4");
  RigOptions options = Outgrown({"batch.micro=4"});
  options.threads = 3;
  EXPECT_EQ(other.Unseed(options), unseed);
  EXPECT_TRUE(SameLines(other.Metrics(), lines));
}

// One entry of the embedding's gradient is so large that the others vanish.
TEST(GridRunTest, N5LostRangeIsReportedByTensor) {
  const TrainRig rig("grid_lost"), sound("grid_sound");
  RigOptions options = Grid();
  options.faults = {
      "kind=spike,step=2,when=from,occurrence=all,element=5,factor=1e20,"
      "at=layers.0.norm.backward"};
  const RigResult result = rig.Train(options);
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  const Json lost = Json::parse(rig.Metrics().at(2));
  ASSERT_TRUE(lost.contains("below_grid")) << lost.dump();
  EXPECT_GT(lost["below_grid"]["backbone.embeddings.weight"], 100);
  EXPECT_TRUE(absl::StrContains(rig.Read("ledger.jsonl"), "grid_lost_range"));
  sound.Unseed(Grid());
  for (const std::string& line : sound.Metrics()) {
    EXPECT_FALSE(absl::StrContains(line, "below_grid")) << line;
  }
}

// The exponents follow the loss scale through skipped steps, so the step after
// them is no overflow.
TEST(GridRunTest, N5SkippedStepsShiftTheGridWithTheScale) {
  const TrainRig rig("grid_fp16");
  RigOptions options =
      Grid({"precision.mode=fp16", "precision.initial_scale=16777216"});
  options.steps = 30;
  const std::string unseed = rig.Unseed(options);
  int64_t skipped = 0, applied = 0;
  for (const std::string& line : rig.Metrics()) {
    const bool skip = Json::parse(line)["skipped"];
    (skip ? skipped : applied) += 1;
    EXPECT_FALSE(absl::StrContains(line, "grid_overflow")) << line;
  }
  EXPECT_GT(skipped, 0);
  EXPECT_GT(applied, 0);
  const TrainRig broken("grid_fp16_stop");
  RigOptions stopped = options;
  stopped.until = skipped - 1;
  broken.Unseed(stopped);
  EXPECT_EQ(broken.Unseed(options), unseed);
}

}  // namespace
}  // namespace lockstep
