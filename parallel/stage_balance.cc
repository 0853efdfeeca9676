#include "parallel/stage_balance.h"

#include <algorithm>
#include <limits>
#include <string>

#include "determinism/check.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Table = std::vector<std::vector<int64_t>>;

// best[s][i]: the smallest possible dearest stage when items from i on make s
// stages. Working from the end lets the cuts be read off from the front.
Table BestFromEnd(std::span<const int64_t> sums, int stages) {
  const size_t items = sums.size() - 1;
  Table best(
      static_cast<size_t>(stages) + 1,
      std::vector<int64_t>(items + 1, std::numeric_limits<int64_t>::max()));
  for (size_t i = 0; i < items; ++i) best[1][i] = sums[items] - sums[i];
  for (size_t s = 2; s < best.size(); ++s) {
    for (size_t i = 0; i + s <= items; ++i) {
      for (size_t cut = i + 1; cut + s - 1 <= items; ++cut) {
        best[s][i] = std::min(best[s][i],
                              std::max(sums[cut] - sums[i], best[s - 1][cut]));
        if (sums[cut] - sums[i] >= best[s][i]) break;  // only dearer from here
      }
    }
  }
  return best;
}

}  // namespace

absl::StatusOr<std::vector<StageRange>> BalanceStages(
    std::span<const int64_t> costs, int stages) {
  if (stages < 1 || costs.size() < static_cast<size_t>(stages)) {
    return InputError("cannot cut " + std::to_string(costs.size()) +
                          " layers into " + std::to_string(stages) +
                          " stages that are not empty",
                      "section [parallel]: pipeline",
                      "use at most " + std::to_string(costs.size()) +
                          " stages (pipeline times interleave)");
  }
  std::vector<int64_t> sums = {0};
  for (const int64_t cost : costs) {
    LS_CHECK(cost >= 0 && sums.back() <= INT64_MAX - cost) << cost;
    sums.push_back(sums.back() + cost);
  }
  const Table best = BestFromEnd(sums, stages);
  const int64_t goal = best[static_cast<size_t>(stages)][0];
  std::vector<StageRange> ranges;
  size_t begin = 0;
  for (auto left = static_cast<size_t>(stages); left > 1; --left) {
    size_t cut = begin + 1;  // the earliest after which the goal can be kept
    while (best[left - 1][cut] > goal) ++cut;
    LS_CHECK_LE(sums[cut] - sums[begin], goal);
    ranges.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(cut)});
    begin = cut;
  }
  ranges.push_back(
      {static_cast<int64_t>(begin), static_cast<int64_t>(costs.size())});
  return ranges;
}

absl::StatusOr<std::vector<StageRange>> StagesFromCuts(
    int64_t items, std::span<const int64_t> cuts) {
  std::vector<StageRange> ranges;
  int64_t begin = 0;
  for (const int64_t cut : cuts) {
    if (cut <= begin || cut >= items) {
      return InputError(
          "a stage of the pipeline would be empty or out of place",
          "a cut before layer " + std::to_string(cut) + " of " +
              std::to_string(items),
          "cut in ascending order, with a layer between any two");
    }
    ranges.push_back({begin, cut});
    begin = cut;
  }
  ranges.push_back({begin, items});
  return ranges;
}

int64_t DearestStage(std::span<const int64_t> costs,
                     std::span<const StageRange> stages) {
  int64_t dearest = 0;
  for (const StageRange& stage : stages) {
    int64_t cost = 0;
    for (int64_t i = stage.begin; i < stage.end; ++i) {
      cost += costs[static_cast<size_t>(i)];
    }
    dearest = std::max(dearest, cost);
  }
  return dearest;
}

}  // namespace lockstep
