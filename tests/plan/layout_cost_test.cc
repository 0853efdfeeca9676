// The formula of costs (model/layout_cost.h) against real runs: each rank's
// memory by its device's account, its calls and bytes by a count.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "model/model_layout.h"
#include "tests/plan/cost_case.h"
#include "tools/rank_costs.h"

namespace lockstep {
namespace {

TEST(LayoutCostTest, OneRankIsPlannedToTheByte) {
  for (const char* mode : {"fp32", "bf16", "fp16"}) {
    for (const char* recompute : {"false", "true"}) {
      EXPECT_EQ(ExpectPlanned(
                    {.sets = {absl::StrCat("precision.mode=", mode),
                              absl::StrCat("train.recompute=", recompute)}}),
                0);
    }
  }
  EXPECT_EQ(ExpectPlanned({.sets = {"batch.micro=8", "grid.leaf=2"}}), 0);
  EXPECT_EQ(ExpectPlanned({.sets = {"guarantee=layout_invariant"}}), 0);
}

TEST(LayoutCostTest, TensorRanksArePlanned) {
  for (const int tensor : {2, 4}) {
    for (const char* sequence : {"false", "true"}) {
      for (const char* rung : {"state_exact", "bitwise", "layout_invariant"}) {
        const std::vector<std::string> sets = {
            absl::StrCat("guarantee=", rung),
            absl::StrCat("parallel.sequence=", sequence)};
        EXPECT_EQ(ExpectPlanned({.tensor = tensor, .sets = sets}), 0);
      }
    }
  }
  EXPECT_EQ(ExpectPlanned({.tensor = 2,
                           .sets = {"precision.mode=bf16", "batch.micro=1",
                                    "parallel.sequence=true"}}),
            0);
}

// A head that works block by block, and one whose logits come in chunks too.
TEST(LayoutCostTest, AHeadWithLittleRoomIsPlanned) {
  const std::vector<std::string> blocks = {"data.sequence=288",
                                           "batch.global=2"};
  EXPECT_EQ(ExpectPlanned({.sets = blocks}), 0);
  EXPECT_EQ(ExpectPlanned({.tensor = 2, .sets = blocks}), 0);
  std::vector<std::string> chunks = blocks;
  chunks.push_back("model.vocab=60000");
  EXPECT_EQ(ExpectPlanned({.sets = chunks}), 0);
  chunks.back() = "model.vocab=118000";
  chunks.push_back("parallel.sequence=true");
  EXPECT_EQ(ExpectPlanned({.tensor = 2, .sets = chunks}), 0);
}

TEST(LayoutCostTest, CopiesOfKeyValueHeadsArePlanned) {
  EXPECT_EQ(ExpectPlanned({.tensor = 4,
                           .sets = {"model.kv_heads=2", "model.head_dim=8",
                                    "guarantee=layout_invariant",
                                    "train.recompute=true"}}),
            0);
}

TEST(LayoutCostTest, PipelineRanksArePlanned) {
  EXPECT_EQ(ExpectPlanned({.pipeline = 2}), 0);
  EXPECT_EQ(ExpectPlanned({.pipeline = 4, .sets = {"precision.mode=bf16"}}), 0);
  EXPECT_EQ(ExpectPlanned({.pipeline = 8, .sets = {"train.recompute=true"}}),
            0);
  EXPECT_EQ(ExpectPlanned({.pipeline = 2, .interleave = 2}), 0);
  EXPECT_EQ(ExpectPlanned({.pipeline = 2, .interleave = 4}), 0);
  // Groups of unequal lengths, and fewer micro-batches than ranks.
  EXPECT_EQ(ExpectPlanned(
                {.pipeline = 3, .interleave = 2, .sets = {"batch.global=22"}}),
            0);
  EXPECT_EQ(ExpectPlanned(
                {.pipeline = 4, .interleave = 2, .sets = {"batch.global=4"}}),
            0);
}

// What a rank owns is known within one row of the largest tensor.
TEST(LayoutCostTest, ReplicasArePlanned) {
  for (const int data : {2, 3, 8}) {
    ExpectPlanned({.data = data});
    ExpectPlanned(
        {.data = data,
         .sets = {"guarantee=layout_invariant", "precision.mode=bf16"}});
  }
  ExpectPlanned({.data = 3, .sets = {"batch.global=10", "batch.micro=2"}});
  for (const int64_t bytes : {1, 4096, 40'000}) {
    const std::string bucket = absl::StrCat("parallel.bucket_bytes=", bytes);
    ExpectPlanned({.data = 2, .pipeline = 2, .sets = {bucket}});
    ExpectPlanned({.data = 2,
                   .pipeline = 2,
                   .tensor = 2,
                   .interleave = 2,
                   .sets = {bucket, "parallel.sequence=true",
                            "guarantee=layout_invariant"}});
  }
}

TEST(LayoutCostTest, AllAxesTogetherArePlanned) {
  ExpectPlanned({.data = 2,
                 .pipeline = 2,
                 .tensor = 2,
                 .interleave = 2,
                 .sets = {"guarantee=layout_invariant", "precision.mode=bf16",
                          "parallel.sequence=true", "train.recompute=true"}});
  ExpectPlanned({.data = 2, .pipeline = 2, .tensor = 2});
  ExpectPlanned(
      {.pipeline = 2, .tensor = 4, .sets = {"guarantee=layout_invariant"}});
}

// The comparison can fail: other choices of the recipe are far off.
TEST(LayoutCostTest, ThePlanOfAnotherRecipeIsFarOff) {
  const CostCase layout = {.pipeline = 2};
  const MeasuredLayout measured = Measure(layout);
  const RunConfig& c = measured.config;
  const auto stages = StagesOf(c.model, c.data.sequence, 2);
  ASSERT_TRUE(stages.ok());
  const auto above = [&](const CostOptions& options, RankPlace place) {
    return std::abs(Above(
        TensorRankCosts(c.model, options, 1).Memory(place, *stages).total(),
        measured.ranks[0].peak_bytes));
  };
  const RankPlace place = PlaceOf(c, 0);
  CostOptions options = CostOptionsOf(c);
  EXPECT_EQ(above(options, place), 0);
  options.recompute = true;
  EXPECT_GT(above(options, place), 5);
  options = CostOptionsOf(c);
  options.micro = 1;
  EXPECT_GT(above(options, place), 5);
  RankPlace alone = place;
  alone.schedule.micro_batches = 1;  // one in flight where there were two
  EXPECT_GT(above(CostOptionsOf(c), alone), 5);
}

// The greatest peak of a layout's ranks.
double Largest(const CostCase& layout) {
  double largest = 0;
  for (const MeasuredRank& rank : Measure(layout).ranks) {
    largest = std::max(largest, rank.peak_bytes);
  }
  return largest;
}

TEST(LayoutCostTest, MemoryARankFallsAlongEachAxis) {
  const double alone = Largest({});
  double before = alone;
  for (const int degree : {2, 4}) {
    const double now = Largest({.tensor = degree});
    EXPECT_LT(now, 0.75 * before) << "tensor " << degree;
    before = now;
  }
  before = alone;
  for (const int degree : {2, 4}) {
    const double now = Largest({.data = degree});
    EXPECT_LT(now, before) << "data " << degree;
    before = now;
  }
  // 1F1B keeps as many micro-batches as stages follow: what falls is what
  // lasts, here beside micro-batches that are small.
  before = Largest({.sets = {"batch.micro=1"}});
  for (const int degree : {2, 4}) {
    const double now = Largest({.pipeline = degree, .sets = {"batch.micro=1"}});
    EXPECT_LT(now, before) << "pipeline " << degree;
    before = now;
  }
}

}  // namespace
}  // namespace lockstep
