#include "tools/saved_operation/layer_rerun.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/manifest.h"
#include "determinism/status.h"
#include "model/model_layout.h"
#include "parallel/thread_comm.h"
#include "tools/run_config.h"
#include "tools/saved_operation/rank_rerun.h"
#include "tools/trained_model.h"

namespace lockstep {
namespace {

absl::StatusOr<RunConfig> ConfigOf(const SavedOperation& o) {
  Manifest manifest;
  manifest.recipe.text = o.recipe;
  LS_ASSIGN_OR_RETURN(RunConfig config,
                      ConfigOfManifest(manifest, "the saved operation"));
  config.model.vocab = o.vocab;
  return config;
}

// All ranks of a tensor axis do the layer; the one that bisect named answers.
absl::Status RunRank(const SavedOperation& operation, const RunConfig& config,
                     int64_t layer, Communicator& world, Isa isa, int threads,
                     OperationRerun& rerun) {
  const TensorAxisOptions options =
      AxisOptions(config.model, config.guarantee, config.grid.tensor,
                  world.size(), config.parallel.sequence);
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<LayoutGroups> groups,
                      MakeLayout(&world, {.tensor = world.size()}, 1, options));
  TensorAxis alone(options.slices);
  TensorAxis* axis = groups->layout.axis;
  Device device(threads, isa);
  LS_ASSIGN_OR_RETURN(OperationRerun mine,
                      RerunOnRank(operation, config, layer, device,
                                  axis == nullptr ? alone : *axis));
  // Tensor ranks stand behind each other (parallel/mesh.h).
  if (operation.rank % world.size() == world.rank()) rerun = std::move(mine);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OperationRerun> RerunOperation(const SavedOperation& operation,
                                              Isa isa, int threads) {
  if (!operation.not_alone.empty()) {
    return InputError(absl::StrCat("this operation cannot be done by itself: ",
                                   operation.not_alone),
                      ToString(operation.identity),
                      "replay its step, with --trace");
  }
  const int64_t layer = LayerOfScope(operation.identity.scope);
  LS_ASSIGN_OR_RETURN(const RunConfig config, ConfigOf(operation));
  if (layer < 0 ||
      layer >= static_cast<int64_t>(config.model.Layers().size())) {
    return Lacks("a layer of the recipe's model");
  }
  OperationRerun rerun;
  const auto ranks = static_cast<int>(config.parallel.tensor);
  LS_RETURN_IF_ERROR(RunThreadRanks(ranks, [&](Communicator& world) {
    return RunRank(operation, config, layer, world, isa, threads, rerun);
  }));
  return rerun;
}

}  // namespace lockstep
