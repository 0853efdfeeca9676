#include "tests/plan/cost_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/model_layout.h"
#include "tests/cases/small_run.h"
#include "tools/rank_costs.h"

namespace lockstep {
namespace {

// 16 micro-batches of 2 samples, all layer kinds twice, a vocabulary that
// pads unevenly.
std::vector<std::string> SetsOf(const CostCase& layout) {
  std::vector<std::string> sets = {
      "model.pattern=M-*M-*M-",
      "model.hidden=64",
      "model.ffn=128",
      "model.heads=8",
      "model.mamba_heads=8",
      "batch.global=32",
      "batch.micro=2",
      "train.steps=4",
      "schedule.warmup=1",
      absl::StrCat("parallel.data=", layout.data),
      absl::StrCat("parallel.pipeline=", layout.pipeline),
      absl::StrCat("parallel.tensor=", layout.tensor),
      absl::StrCat("parallel.interleave=", layout.interleave)};
  sets.insert(sets.end(), layout.sets.begin(), layout.sets.end());
  return sets;
}

void ExpectTraffic(const AxisTraffic& said, const AxisTraffic& planned,
                   const std::string& where) {
  EXPECT_EQ(said.messages, planned.messages) << where;
  EXPECT_EQ(said.bytes, planned.bytes) << where;
}

}  // namespace

MeasuredLayout Measure(const CostCase& layout) {
  return MeasureLayout(SmallRecipe("plan", 200), SetsOf(layout));
}

double Above(double planned, double measured) {
  return 100 * (planned / measured - 1);
}

double ExpectPlanned(const CostCase& layout, double percent) {
  const MeasuredLayout measured = Measure(layout);
  const RunConfig& c = measured.config;
  const auto stages =
      StagesOf(c.model, c.data.sequence, layout.pipeline * layout.interleave);
  EXPECT_TRUE(stages.ok());
  double farthest = 0;
  for (const MeasuredRank& rank : measured.ranks) {
    const TensorRankCosts costs(c.model, CostOptionsOf(c), layout.tensor,
                                rank.at.tensor);
    const RankPlace place = PlaceOf(c, rank.at.pipeline, rank.at.data);
    const RankMemory memory = costs.Memory(place, *stages);
    const std::string where = absl::StrCat(
        ToString(rank.at), " of ", absl::StrJoin(SetsOf(layout), " "),
        ", peak ", rank.peak_bytes, ", lasting ", rank.lasting_bytes);
    const double lasting = Above(memory.lasting(), rank.lasting_bytes);
    const double peak = Above(memory.total(), rank.peak_bytes);
    EXPECT_LE(std::abs(lasting), percent) << where << ": " << lasting << " %";
    EXPECT_LE(std::abs(peak), percent) << where << ": " << peak << " %";
    farthest = std::max({farthest, std::abs(lasting), std::abs(peak)});
    const RankTraffic traffic = costs.Traffic(place, *stages);
    ExpectTraffic(rank.said.tensor, traffic.tensor, "tensor, " + where);
    ExpectTraffic(rank.said.pipeline, traffic.pipeline, "pipeline, " + where);
    ExpectTraffic(rank.said.data, traffic.data, "data, " + where);
  }
  return farthest;
}

}  // namespace lockstep
