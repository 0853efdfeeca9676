#include "tools/rank_costs.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/replica_share.h"

namespace lockstep {

CostOptions CostOptionsOf(const RunConfig& config) {
  return {.guarantee = config.guarantee,
          .storage = config.precision.storage(),
          .tensor_grid = config.grid.tensor,
          .samples_per_leaf = config.grid.leaf,
          .micro = config.batch.micro,
          .tokens = config.data.sequence,
          .recompute = config.train.recompute,
          .sequence_parallel = config.parallel.sequence,
          .bucket_bytes = config.parallel.bucket_bytes};
}

int64_t LargestBatch(const RunConfig& config) {
  const std::vector<int64_t> sizes = config.batches.sizes();
  return *std::max_element(sizes.begin(), sizes.end());
}

RankPlace PlaceOf(const RunConfig& config, int pipeline_rank, int data_rank) {
  const ParallelConfig& p = config.parallel;
  const int64_t replicas = p.data.value_or(1);
  const ReplicaShare share =
      ReplicaShareOf(LargestBatch(config) / config.batch.micro,
                     static_cast<int>(replicas), data_rank);
  return {.data_ranks = replicas,
          .schedule = {.ranks = static_cast<int>(p.pipeline),
                       .interleave = static_cast<int>(p.interleave),
                       .micro_batches = share.micro_batches},
          .pipeline_rank = pipeline_rank};
}

absl::StatusOr<MemoryRange> MemoryOfRanks(const RunConfig& config) {
  const ParallelConfig& p = config.parallel;
  LS_ASSIGN_OR_RETURN(const std::vector<StageRange> stages,
                      StagesOf(config.model, config.data.sequence,
                               static_cast<int>(p.pipeline * p.interleave)));
  const CostOptions options = CostOptionsOf(config);
  const TensorRankCosts first(config.model, options, p.tensor);
  const TensorRankCosts last(config.model, options, p.tensor, p.tensor - 1);
  MemoryRange range;
  range.least_lasting = std::numeric_limits<double>::infinity();
  for (int rank = 0; rank < p.pipeline; ++rank) {
    const RankPlace place = PlaceOf(config, rank);
    const RankMemory memory = first.Memory(place, stages);
    if (memory.total() > range.largest.total()) range.largest = memory;
    range.least_lasting =
        std::min(range.least_lasting, last.Memory(place, stages).lasting());
  }
  return range;
}

}  // namespace lockstep
