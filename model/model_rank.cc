#include "model/model_rank.h"

#include <string>
#include <utility>

#include "determinism/check.h"
#include "determinism/status.h"
#include "model/placement.h"

namespace lockstep {
namespace {

std::vector<StageRange> StagesHere(const ModelConfig& config, int64_t tokens,
                                   const ModelLayout& layout) {
  auto stages = StagesOfRank({.config = config,
                              .tokens = tokens,
                              .shape = layout.shape,
                              .interleave = layout.interleave},
                             layout.at.pipeline);
  LS_CHECK(stages.ok()) << std::string(stages.status().message());
  return *std::move(stages);
}

GradientMode ModeOf(Guarantee guarantee) {
  return guarantee >= Guarantee::kLayoutInvariant ? GradientMode::kGrid
                                                  : GradientMode::kLeafFp32;
}

StorePlacement PlacementOf(const std::vector<StageRange>& stages,
                           const TensorShare& share,
                           const ModelLayout& layout) {
  return {.stages = stages,
          .tensor = share,
          .data_ranks = layout.shape.data,
          .data_rank = layout.at.data};
}

std::vector<Stage> MakeChunks(const ModelConfig& config, ParameterStore& store,
                              const ModelRankOptions& options,
                              const ModelLayout& layout,
                              const std::vector<StageRange>& stages) {
  std::vector<Stage> chunks;
  for (const StageRange& stage : stages) {
    chunks.emplace_back(
        config, store, VocabularyCuts(options.tensor_grid, layout.shape.tensor),
        options.recompute, store.placement().tensor, stage);
  }
  return chunks;
}

}  // namespace

ModelRank::ModelRank(StateRegistry& registry, Device& device,
                     const ModelConfig& config,
                     const PrecisionConfig& precision,
                     const OptimizerConfig& optimizer,
                     const ModelRankOptions& options, const ModelLayout& layout)
    : layout_(layout),
      alone_(
          AxisOptions(config, options.guarantee, options.tensor_grid, 1, false)
              .slices),
      stages_(StagesHere(config, options.tokens, layout)),
      store_(registry, device,
             ListParameters(
                 config, precision.storage(),
                 VocabularyCuts(options.tensor_grid, layout.shape.tensor)),
             ModeOf(options.guarantee),
             PlacementOf(stages_, axis()->share(), layout)),
      optimizer_(registry, device, store_, optimizer),
      overlap_(options.overlap),
      reduction_(store_, layout,
                 {.fast_sums = options.guarantee < Guarantee::kBitwise,
                  .bucket_bytes = options.bucket_bytes}),
      pipeline_(MakeChunks(config, store_, options, layout, stages_), layout) {
  if (store_.mode() == GradientMode::kGrid) {
    // A norm's leaf is one token slice of one sample.
    grid_.emplace(registry, store_.specs(),
                  axis()->share().slices * options.samples_per_leaf);
  }
}

// A probe's sums are not wanted, so nothing of it is sent early.
absl::Status ModelRank::BeginPass(bool early) {
  if (grid_) grid_->BeginPass(store_);
  const bool probe = grid_ && grid_->probes();
  LS_RETURN_IF_ERROR(reduction_.BeginPass(early && overlap_ && !probe));
  store_.ZeroGradients();
  return absl::OkStatus();
}

}  // namespace lockstep
