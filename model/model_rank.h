// All of the model that one rank of a layout has: parameters, stages,
// optimizer, and what ties them to the other ranks.
//
// What it is: the objects, made from the recipe's sections and the layout, and
// the choice of how sums over samples are taken on this rung. What it is not:
// the step (tools/stepper.h), which moves them. Why so: which rung and which
// layout ask for what is decided once, here, and nobody else asks.
#ifndef LOCKSTEP_MODEL_MODEL_RANK_H_
#define LOCKSTEP_MODEL_MODEL_RANK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "determinism/guarantee.h"
#include "determinism/state.h"
#include "model/config.h"
#include "model/device.h"
#include "model/gradient_grid.h"
#include "model/gradient_reduction.h"
#include "model/model_layout.h"
#include "model/optimizer.h"
#include "model/parameters.h"
#include "model/pipeline.h"
#include "model/precision.h"

namespace lockstep {

struct ModelRankOptions {
  Guarantee guarantee = Guarantee::kBitwise;
  int64_t tensor_grid = 1;       // grid.tensor
  int64_t samples_per_leaf = 1;  // grid.leaf
  int64_t tokens = 0;            // of a sample; balances the stages
  bool recompute = false;
  bool overlap = true;  // gradients are reduced during backward
  int64_t bucket_bytes = kDefaultBucketBytes;
};

class ModelRank {
 public:
  // That the layout fits the model is checked where layouts are: here it is a
  // bug if it does not.
  ModelRank(StateRegistry& registry, Device& device, const ModelConfig& config,
            const PrecisionConfig& precision, const OptimizerConfig& optimizer,
            const ModelRankOptions& options, const ModelLayout& layout);

  const ModelLayout& layout() const { return layout_; }
  ParameterStore& store() { return store_; }
  const ParameterStore& store() const { return store_; }
  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }
  GradientReduction& reduction() { return reduction_; }
  Pipeline& pipeline() { return pipeline_; }
  // What every StepContext of this rank names.
  TensorAxis* axis() {
    return layout_.axis != nullptr ? layout_.axis : &alone_;
  }
  // Null below `layout_invariant`.
  GradientGrid* grid() { return grid_ ? &*grid_ : nullptr; }

  // Before a pass over the samples: sums are zero, and on the grid their
  // exponents stand. Collective where an earlier pass has sent its sums.
  // `early`: sums may be sent during backward; the same on every rank.
  absl::Status BeginPass(bool early = true);

 private:
  const ModelLayout layout_;
  TensorAxis alone_;                      // of a tensor degree of 1
  const std::vector<StageRange> stages_;  // this rank's, by chunk
  ParameterStore store_;
  Optimizer optimizer_;
  std::optional<GradientGrid> grid_;
  const bool overlap_;
  GradientReduction reduction_;
  Pipeline pipeline_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_MODEL_RANK_H_
