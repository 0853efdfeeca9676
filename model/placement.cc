#include "model/placement.h"

#include <numeric>
#include <utility>

#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/pipeline_schedule.h"

namespace lockstep {
namespace {

std::vector<PlacedBox> BoxesOfRank(const std::vector<ParameterSpec>& specs,
                                   const StorePlacement& placement) {
  std::vector<PlacedBox> boxes;
  for (const Parameter& p : PlaceParameters(specs, placement)) {
    if (!p.speaks) continue;
    for (ParameterBox& box : BoxesOf(p, placement.tensor)) {
      boxes.push_back(
          {p.spec.name, std::move(box.start), std::move(box.shape)});
    }
  }
  return boxes;
}

}  // namespace

int64_t VocabularyCuts(int64_t tensor_grid, int64_t tensor_degree) {
  return std::lcm(tensor_grid, tensor_degree);
}

absl::StatusOr<std::vector<StageRange>> StagesOfRank(const PlacedModel& model,
                                                     int pipeline_rank) {
  const PipelineShape shape = {.ranks = model.shape.pipeline,
                               .interleave = model.interleave,
                               .micro_batches = 1};
  LS_ASSIGN_OR_RETURN(const std::vector<StageRange> all,
                      StagesOf(model.config, model.tokens, shape.stages()));
  std::vector<StageRange> here;
  for (int chunk = 0; chunk < model.interleave; ++chunk) {
    const int stage = PipelineStageOf(shape, pipeline_rank, chunk);
    here.push_back(all[static_cast<size_t>(stage)]);
  }
  return here;
}

absl::StatusOr<std::vector<std::vector<PlacedBox>>> SavedBoxesOf(
    const PlacedModel& model) {
  LS_ASSIGN_OR_RETURN(const Mesh mesh,
                      Mesh::Make(model.shape, model.shape.world()));
  // Storage types do not matter to boxes.
  const std::vector<ParameterSpec> specs =
      ListParameters(model.config, DType::kF32,
                     VocabularyCuts(model.tensor_grid, model.shape.tensor));
  std::vector<std::vector<PlacedBox>> ranks;
  for (int rank = 0; rank < mesh.world(); ++rank) {
    const MeshCoordinate at = mesh.CoordinateOf(rank);
    StorePlacement placement = {.tensor = {.degree = model.shape.tensor,
                                           .index = at.tensor,
                                           .slices = model.shape.tensor},
                                .data_ranks = model.shape.data,
                                .data_rank = at.data};
    LS_ASSIGN_OR_RETURN(placement.stages, StagesOfRank(model, at.pipeline));
    ranks.push_back(BoxesOfRank(specs, placement));
  }
  return ranks;
}

}  // namespace lockstep
