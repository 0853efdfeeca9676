// The part of the model that one pipeline rank holds: all of it, for now.
//
// What it is: embedding, layers and head in a row, with the forward and
// backward of one micro-batch. What it is not: a schedule, an optimizer or a
// sum over micro-batches. Why so: a stage receives ids or a residual stream and
// returns a residual stream or losses; what lies between is its own, so cutting
// the pattern elsewhere cannot change a bit.
#ifndef LOCKSTEP_MODEL_STAGE_H_
#define LOCKSTEP_MODEL_STAGE_H_

#include <cstdint>
#include <vector>

#include "model/config.h"
#include "model/head.h"
#include "model/kernels/embedding/embedding.h"
#include "model/layer.h"
#include "model/parameters.h"
#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

// One micro-batch of token ids [samples, tokens] with its targets; not owned.
// Ids and unmasked labels are below the vocabulary (the loader proves it).
struct MicroBatch {
  const int32_t* ids;
  LossTargets targets;
};

class Stage {
 public:
  // `recompute`: keep only each layer's input and run forward again (N12).
  // `share`: what the store has of the model; contexts name the axis it is on.
  Stage(const ModelConfig& config, ParameterStore& store, int64_t tensor_grid,
        bool recompute, const TensorShare& share = {});

  // Forward and backward: adds this micro-batch's leaves to the gradients and
  // returns the fp32 loss of every token, [rows], zero where masked.
  Tensor TrainMicroBatch(const StepContext& context, const MicroBatch& batch);
  // Forward alone, without dropout: the losses.
  Tensor EvaluateMicroBatch(const StepContext& context,
                            const MicroBatch& batch);
  // fp32 logits [rows, padded vocab] for generation; of one tensor rank only.
  Tensor Logits(const StepContext& context, const int32_t* ids);

 private:
  Tensor Embed(const StepContext& context, const int32_t* ids);
  void EmbedBackward(const StepContext& context, const int32_t* ids,
                     const Tensor& dx_slice_RD);
  Tensor ForwardLayers(const StepContext& context, const int32_t* ids,
                       std::vector<LayerSaved>* saved);

  ModelConfig config_;
  bool recompute_;
  TensorShare share_;
  Parameter& embedding_;
  EmbeddingRows embedding_rows_;  // those of the table that are here
  std::vector<Layer> layers_;
  Head head_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_STAGE_H_
