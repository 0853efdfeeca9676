#include "tools/plan/layout_costs.h"

#include <algorithm>

#include "ckpt/manifest_compare.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "tools/config_layout.h"
#include "tools/rank_costs.h"

namespace lockstep {
namespace {

void Raise(AxisTraffic& most, const AxisTraffic& one) {
  if (one.bytes > most.bytes) most = one;
}

Manifest::Layout LayoutIn(const RunConfig& config) {
  const ParallelConfig& p = config.parallel;
  return {.world = p.world(),
          .data = p.data.value_or(1),
          .tensor = p.tensor,
          .pipeline = p.pipeline,
          .micro_batch = config.batch.micro};
}

}  // namespace

Guarantee KeptGuarantee(const RunConfig& from, const RunConfig& to) {
  Manifest saved, current;
  saved.layout = LayoutIn(from);
  current.layout = LayoutIn(to);
  for (int rung = static_cast<int>(from.guarantee); rung > 0; --rung) {
    const auto differences =
        CompareManifests(saved, current, static_cast<Guarantee>(rung));
    if (std::all_of(differences.begin(), differences.end(),
                    [](const ManifestDifference& difference) {
                      return difference.verdict == Verdict::kHarmless;
                    })) {
      return static_cast<Guarantee>(rung);
    }
  }
  return Guarantee::kStatistical;
}

LayoutCosts::LayoutCosts(const RunConfig& recipe, const PlanRequest& request)
    : recipe_(recipe),
      request_(request),
      host_of_(HostOfRanks(request.hosts, request.world)),
      flops_(LayerCosts(recipe.model, recipe.data.sequence)) {}

absl::StatusOr<const std::vector<StageRange>*> LayoutCosts::Stages(
    int64_t stages) {
  const auto found = stages_.find(stages);
  if (found != stages_.end()) return &found->second;
  LS_ASSIGN_OR_RETURN(
      std::vector<StageRange> cut,
      StagesOf(recipe_.model, recipe_.data.sequence, static_cast<int>(stages)));
  return &(stages_[stages] = std::move(cut));
}

const TensorRankCosts& LayoutCosts::Tensor(int64_t degree) {
  return tensor_
      .try_emplace(degree, recipe_.model, CostOptionsOf(recipe_), degree)
      .first->second;
}

// Of a long step whole rounds of the pipeline are taken: what one more
// micro-batch changes does not show, and an uneven schedule has to be
// simulated.
double LayoutCosts::Bubble(PipelineShape shape) {
  constexpr int64_t kMany = 1024;
  if (shape.micro_batches > kMany) {
    shape.micro_batches -= shape.micro_batches % shape.ranks;
  }
  const auto key =
      std::make_tuple(shape.ranks, shape.interleave, shape.micro_batches);
  const auto found = bubbles_.find(key);
  if (found != bubbles_.end()) return found->second;
  return bubbles_[key] = PipelineBubble(shape);
}

double LayoutCosts::StageBalance(const PipelineShape& shape,
                                 const std::vector<StageRange>& stages) const {
  double all = 0, dearest = 0;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    double mine = 0;
    for (int chunk = 0; chunk < shape.interleave; ++chunk) {
      const StageRange& stage =
          stages[static_cast<size_t>(PipelineStageOf(shape, rank, chunk))];
      for (int64_t i = stage.begin; i < stage.end; ++i) {
        mine += static_cast<double>(flops_[static_cast<size_t>(i)]);
      }
    }
    all += mine;
    dearest = std::max(dearest, mine);
  }
  return all / (dearest * shape.ranks);
}

// A group of an axis crosses hosts where a rank of it is not on the host of its
// first one.
std::vector<MeshAxis> LayoutCosts::Crosses(const MeshShape& shape) const {
  std::vector<MeshAxis> crossing;
  const auto mesh = Mesh::Make(shape, shape.world());
  if (host_of_.empty() || !mesh.ok()) return crossing;
  for (const MeshAxis axis :
       {MeshAxis::kData, MeshAxis::kPipeline, MeshAxis::kTensor}) {
    if (shape.degree(axis) == 1) continue;
    for (int rank = 0; rank < shape.world(); ++rank) {
      const auto first = static_cast<size_t>(mesh->ColorAlong(axis, rank));
      if (host_of_[static_cast<size_t>(rank)] == host_of_[first]) continue;
      crossing.push_back(axis);
      break;
    }
  }
  return crossing;
}

absl::StatusOr<PlannedLayout> LayoutCosts::Of(const RunConfig& config) {
  const ParallelConfig& p = config.parallel;
  LS_ASSIGN_OR_RETURN(const std::vector<StageRange>* const stages,
                      Stages(p.pipeline * p.interleave));
  const TensorRankCosts& costs = Tensor(p.tensor);
  PlannedLayout layout = {.shape = MeshShapeOf(config),
                          .interleave = static_cast<int>(p.interleave)};
  layout.idle = request_.world - layout.shape.world();
  for (int rank = 0; rank < p.pipeline; ++rank) {
    const RankPlace place = PlaceOf(config, rank);
    const RankMemory memory = costs.Memory(place, *stages);
    if (memory.total() > layout.memory.total()) layout.memory = memory;
    const RankTraffic traffic = costs.Traffic(place, *stages);
    Raise(layout.traffic.data, traffic.data);
    Raise(layout.traffic.pipeline, traffic.pipeline);
    Raise(layout.traffic.tensor, traffic.tensor);
  }
  const PipelineShape schedule = PlaceOf(config, 0).schedule;
  layout.bubble = Bubble(schedule);
  const double micro =
      static_cast<double>(LargestBatch(config) / config.batch.micro);
  const double shares = micro / (static_cast<double>(schedule.micro_batches) *
                                 static_cast<double>(p.data.value_or(1)));
  layout.busy = static_cast<double>(layout.shape.world()) /
                static_cast<double>(request_.world) * shares *
                StageBalance(schedule, *stages) * (1 - layout.bubble);
  layout.crosses = Crosses(layout.shape);
  layout.keeps = KeptGuarantee(recipe_, config);
  layout.current = layout.shape == MeshShapeOf(recipe_) &&
                   p.interleave == recipe_.parallel.interleave;
  return layout;
}

}  // namespace lockstep
