// The end of the model: final norm, head and cross-entropy, both ways.
//
// What it is: from the residual stream to a loss for every token, and back to
// the stream's gradient, leaf by leaf (head_leaf.h). What it is not: the mean
// over the global batch: losses and gradients here are unnormalised sums, in
// every rung (N5), and the loss is summed exactly by the caller (N6). Why so: a
// mean taken here would depend on what else is in the micro-batch. A tensor
// rank has the logits of its columns of the vocabulary; what it needs of the
// others' is three numbers a row (N4).
#ifndef LOCKSTEP_MODEL_HEAD_H_
#define LOCKSTEP_MODEL_HEAD_H_

#include <cstdint>

#include "model/config.h"
#include "model/head_rows.h"
#include "model/parameters.h"
#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

class Head {
 public:
  // `room` shows in no bit.
  Head(const ModelConfig& config, ParameterStore& store, int64_t tensor_grid,
       const TensorShare& share, const HeadRoom& room = {});

  // x_RD is a residual stream. Writes loss_R fp32 [rows], zero where masked, on
  // every rank.
  void Losses(const StepContext& context, const Tensor& x_RD,
              const LossTargets& targets, Tensor& loss_R);
  // The same, adds to the gradients and returns the stream's gradient.
  Tensor LossesAndBackward(const StepContext& context, const Tensor& x_RD,
                           const LossTargets& targets, Tensor& loss_R);
  // fp32 [rows, padded vocab] logits; columns beyond the vocabulary are unset.
  // Of one tensor rank only.
  Tensor Logits(const StepContext& context, const Tensor& x_RD);

 private:
  void Leaves(const StepContext& context, const Tensor& h_RD,
              const LossTargets& targets, Tensor& loss_R, Tensor* dh_RD);

  ModelConfig config_;
  Parameter& norm_;
  HeadWeight head_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_HEAD_H_
