// A part of the model that lies between two cuts: one chunk of a pipeline, or
// all of it.
//
// What it is: embedding (of the first stage), layers and head (of the last) in
// a row, with the forward and backward of one micro-batch. What it is not: a
// schedule, an optimizer or a sum over micro-batches. Why so: a stage receives
// ids or a residual stream and returns a residual stream or losses; what lies
// between is its own, so cutting the pattern elsewhere cannot change a bit.
#ifndef LOCKSTEP_MODEL_STAGE_H_
#define LOCKSTEP_MODEL_STAGE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/config.h"
#include "model/head.h"
#include "model/kernels/embedding/embedding.h"
#include "model/layer.h"
#include "model/parameters.h"
#include "model/step_context.h"
#include "model/tensor.h"
#include "parallel/stage_balance.h"

namespace lockstep {

// One micro-batch of token ids [samples, tokens] with its targets; not owned.
// Ids and unmasked labels are below the vocabulary (the loader proves it).
struct MicroBatch {
  const int32_t* ids;
  LossTargets targets;
};

// Told that all that a micro-batch adds to the gradients of a layer has been
// added (ParameterSpec::layer).
using LayerDone = std::function<void(int64_t layer)>;

// What a stage keeps of one micro-batch between forward and backward.
struct StageSaved {
  std::vector<LayerSaved> layers = {};
  Tensor dres_RD = {};  // of the last stage: the stream's gradient at its end
};

class Stage {
 public:
  // The whole model. `recompute`: keep only each layer's input and run forward
  // again (N12). `share`: what the store has of each layer; contexts name the
  // axis it is on.
  Stage(const ModelConfig& config, ParameterStore& store, int64_t tensor_grid,
        bool recompute, const TensorShare& share = {});
  // Its layers [layers.begin, layers.end), which the store holds.
  Stage(const ModelConfig& config, ParameterStore& store, int64_t tensor_grid,
        bool recompute, const TensorShare& share, const StageRange& layers);

  bool first() const { return embedding_ != nullptr; }
  bool last() const { return head_.has_value(); }
  // Of the residual stream, [stream rows, hidden].
  int64_t hidden() const { return config_.hidden; }
  DType stream_dtype() const { return stream_dtype_; }

  // Forward of one micro-batch: the first stage starts from batch.ids and reads
  // no x. Returns the residual stream; the last stage goes on to the losses
  // (fp32 [rows], zero where masked) and returns them.
  Tensor Forward(const StepContext& context, const MicroBatch& batch,
                 Tensor x_RD, StageSaved& saved);
  // Adds the micro-batch's leaves to the gradients and returns the gradient of
  // x, which has no memory at the first stage. The last stage reads no dres.
  // `done` hears of its layers as they end, the head's first.
  Tensor Backward(const StepContext& context, const MicroBatch& batch,
                  StageSaved saved, Tensor dres_RD, const LayerDone& done = {});
  // Forward alone, without dropout: the stream, or at the end the losses.
  Tensor Evaluate(const StepContext& context, const MicroBatch& batch,
                  Tensor x_RD);

  // The same for a stage that is the whole model: forward and backward,
  // forward, and fp32 logits [rows, padded vocab] for generation; of one tensor
  // rank only.
  Tensor TrainMicroBatch(const StepContext& context, const MicroBatch& batch);
  Tensor EvaluateMicroBatch(const StepContext& context,
                            const MicroBatch& batch);
  Tensor Logits(const StepContext& context, const int32_t* ids);

 private:
  void Done(int64_t layer, const LayerDone& done) const {
    if (done) done(layer);
  }
  Tensor Embed(const StepContext& context, const int32_t* ids);
  void EmbedBackward(const StepContext& context, const int32_t* ids,
                     const Tensor& dx_slice_RD);
  Tensor ForwardLayers(const StepContext& context, const int32_t* ids,
                       Tensor x_RD, std::vector<LayerSaved>* saved);

  ModelConfig config_;
  bool recompute_;
  TensorShare share_;
  DType stream_dtype_ = DType::kF32;
  Parameter* embedding_ = nullptr;         // null: not the first stage
  EmbeddingRows embedding_rows_ = {0, 0};  // those of the table that are here
  StageRange range_;
  std::vector<Layer> layers_;
  std::optional<Head> head_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_STAGE_H_
