#include "model/model_layout.h"

#include <utility>

#include "determinism/status.h"
#include "model/tensor_cut.h"

namespace lockstep {
namespace {

absl::StatusOr<std::unique_ptr<Communicator>> Along(Communicator* world,
                                                    const Mesh& mesh,
                                                    MeshAxis axis) {
  return world->Split(mesh.ColorAlong(axis, world->rank()),
                      mesh.KeyAlong(axis, world->rank()));
}

}  // namespace

ModelLayout LayoutOfOne(Communicator* world) {
  return {.shape = {},
          .at = {},
          .interleave = 1,
          .sequence_parallel = false,
          .world = world,
          .data = world,
          .pipeline = world,
          .tensor = world,
          .axis = nullptr};
}

TensorAxisOptions AxisOptions(const ModelConfig& config, Guarantee guarantee,
                              int64_t grid, int degree,
                              bool sequence_parallel) {
  const bool invariant = guarantee >= Guarantee::kLayoutInvariant;
  return {.slices = invariant ? grid : degree,
          .sequence_parallel = sequence_parallel,
          .copies = KeyValueCopies(config, degree),
          .fast_sums = guarantee < Guarantee::kBitwise};
}

absl::StatusOr<std::unique_ptr<LayoutGroups>> MakeLayout(
    Communicator* world, const MeshShape& shape, int interleave,
    const TensorAxisOptions& options) {
  LS_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::Make(shape, world->size()));
  auto groups = std::make_unique<LayoutGroups>();
  LS_ASSIGN_OR_RETURN(groups->data, Along(world, mesh, MeshAxis::kData));
  LS_ASSIGN_OR_RETURN(groups->pipeline,
                      Along(world, mesh, MeshAxis::kPipeline));
  LS_ASSIGN_OR_RETURN(groups->tensor, Along(world, mesh, MeshAxis::kTensor));
  if (shape.tensor > 1) {
    LS_ASSIGN_OR_RETURN(groups->axis,
                        TensorAxis::Make(*groups->tensor, options));
  }
  groups->layout = {
      .shape = shape,
      .at = mesh.CoordinateOf(world->rank()),
      .interleave = interleave,
      .sequence_parallel = options.sequence_parallel && shape.tensor > 1,
      .world = world,
      .data = groups->data.get(),
      .pipeline = groups->pipeline.get(),
      .tensor = groups->tensor.get(),
      .axis = groups->axis.get()};
  return groups;
}

absl::StatusOr<std::vector<StageRange>> StagesOf(const ModelConfig& config,
                                                 int64_t tokens, int stages) {
  const std::vector<int64_t> costs = LayerCosts(config, tokens);
  std::vector<int64_t> cuts = config.StageStarts();
  cuts.erase(cuts.begin());
  if (stages > 1 && cuts.empty()) return BalanceStages(costs, stages);
  // One rank runs a pattern with cuts as one stage.
  if (stages == 1) cuts.clear();
  if (static_cast<int>(cuts.size()) + 1 != stages) {
    return InputError("the pattern's cuts make " +
                          std::to_string(cuts.size() + 1) + " stages, and " +
                          std::to_string(stages) + " are asked for",
                      "model.pattern",
                      "change its cuts, or parallel.pipeline and "
                      "parallel.interleave");
  }
  return StagesFromCuts(static_cast<int64_t>(costs.size()), cuts);
}

}  // namespace lockstep
