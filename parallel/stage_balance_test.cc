#include "parallel/stage_balance.h"

#include <algorithm>
#include <string>

#include "determinism/philox.h"
#include "gtest/gtest.h"

namespace lockstep {
namespace {

int64_t Draw(uint64_t trial, uint64_t i, int64_t below) {
  const uint32_t draw = RandomU32(
      3, {.stream = Stream::kTest, .layer = 0, .item = trial, .element = i});
  return static_cast<int64_t>(draw % static_cast<uint64_t>(below));
}

// All ways to cut, in the order of first cut, second cut, ...: the first best.
void TryAll(const std::vector<int64_t>& costs, int stages,
            std::vector<int64_t>& cuts, int64_t& best,
            std::vector<StageRange>& winner) {
  const auto items = static_cast<int64_t>(costs.size());
  if (static_cast<int>(cuts.size()) + 1 == stages) {
    const auto ranges = StagesFromCuts(items, cuts);
    if (!ranges.ok() || DearestStage(costs, *ranges) >= best) return;
    best = DearestStage(costs, *ranges);
    winner = *ranges;
    return;
  }
  for (int64_t cut = cuts.empty() ? 1 : cuts.back() + 1; cut < items; ++cut) {
    cuts.push_back(cut);
    TryAll(costs, stages, cuts, best, winner);
    cuts.pop_back();
  }
}

TEST(StageBalanceTest, IsTheFirstOfTheBestAmongAllCuts) {
  int compared = 0;
  for (uint64_t trial = 0; trial < 60; ++trial) {
    std::vector<int64_t> costs(1 + static_cast<size_t>(Draw(trial, 99, 9)));
    for (size_t i = 0; i < costs.size(); ++i) {
      costs[i] = Draw(trial, i, trial % 2 == 0 ? 4 : 1000);  // ties, zeros
    }
    for (int stages = 1; stages <= static_cast<int>(costs.size()); ++stages) {
      std::vector<int64_t> cuts;
      int64_t best = INT64_MAX;
      std::vector<StageRange> winner;
      TryAll(costs, stages, cuts, best, winner);
      const auto ranges = BalanceStages(costs, stages);
      ASSERT_TRUE(ranges.ok()) << ranges.status();
      EXPECT_EQ(*ranges, winner) << "trial " << trial << ", " << stages;
      ++compared;
    }
  }
  EXPECT_GT(compared, 200);
}

TEST(StageBalanceTest, TiesGoToTheEarliestCut) {
  const std::vector<int64_t> even(7, 1);
  const auto ranges = BalanceStages(even, 3);
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(*ranges, (std::vector<StageRange>{{0, 1}, {1, 4}, {4, 7}}));
}

TEST(StageBalanceTest, FourHundredLayersTakeNoTime) {
  std::vector<int64_t> costs;
  for (uint64_t i = 0; i < 400; ++i) costs.push_back(Draw(7, i, 1'000'000));
  const auto ranges = BalanceStages(costs, 64);
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(ranges->size(), 64u);
  EXPECT_EQ(ranges->back().end, 400);
}

TEST(StageBalanceTest, TooManyStagesAndBadCutsAreRefused) {
  const std::vector<int64_t> costs = {1, 2};
  const auto ranges = BalanceStages(costs, 3);
  EXPECT_EQ(ranges.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(ranges.status().message()).find("at most 2 stages"),
            std::string::npos);
  for (const std::vector<int64_t>& cuts :
       std::vector<std::vector<int64_t>>{{0}, {4}, {2, 2}, {3, 1}, {-1}}) {
    EXPECT_FALSE(StagesFromCuts(4, cuts).ok());
  }
  const auto good = StagesFromCuts(4, std::vector<int64_t>{1, 3});
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, (std::vector<StageRange>{{0, 1}, {1, 3}, {3, 4}}));
}

}  // namespace
}  // namespace lockstep
