// What the ranks of a recipe's layout cost: recipe in, formula of
// model/layout_cost.h out.
//
// What it is: which sections a cost depends on, and where each rank of the
// layout stands. What it is not: a formula or a verdict. Why so: a launch that
// refuses what cannot fit and the planner must ask the same question.
#ifndef LOCKSTEP_TOOLS_RANK_COSTS_H_
#define LOCKSTEP_TOOLS_RANK_COSTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/layout_cost.h"
#include "tools/run_config.h"

namespace lockstep {

CostOptions CostOptionsOf(const RunConfig& config);

// Samples of the largest step that the recipe's batch schedule has.
int64_t LargestBatch(const RunConfig& config);

// Of the recipe's layout, in its largest step. The first replica has the most
// micro-batches.
RankPlace PlaceOf(const RunConfig& config, int pipeline_rank,
                  int data_rank = 0);

// The rank that needs most memory, and what the one that keeps least keeps. The
// layout has passed its checks; InputError where the model is not cut so.
struct MemoryRange {
  RankMemory largest = {};
  double least_lasting = 0;
};
absl::StatusOr<MemoryRange> MemoryOfRanks(const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RANK_COSTS_H_
