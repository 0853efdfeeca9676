#include "model/norm.h"

#include "model/gradient_sum.h"
#include "model/kernels/rms_norm/rms_norm.h"

namespace lockstep {

namespace {

// Of the leaves of N4, a sample's slices of tokens, those of this rank.
HeldDim LeavesHeld(const StepContext& context) {
  if (!context.sequence_parallel()) return {};
  const TensorShare share = context.share();
  HeldDim held = {.length = context.samples * share.slices};
  for (int64_t sample = 0; sample < context.samples; ++sample) {
    const int64_t begin = sample * share.slices + share.first();
    held.ranges.push_back({begin, begin + share.held()});
  }
  return held;
}

}  // namespace

void NormForward(const StepContext& context, const OperationName& name,
                 const Parameter& weight, double eps, const Tensor& x_RD,
                 Tensor& h_RD, Tensor& rstd_R1) {
  const int64_t d = x_RD.dim(1);
  RmsNormForward(context.device, {.rows = x_RD.dim(0),
                                  .d = d,
                                  .eps = eps,
                                  .dtype = x_RD.dtype(),
                                  .x = x_RD.raw(),
                                  .x_row_stride = d,
                                  .weight = weight.runtime_f32(),
                                  .y = h_RD.raw(),
                                  .y_row_stride = d,
                                  .rstd = rstd_R1.data<float>()});
  Observe(context, name, {StreamRef(context, Ref("x", x_RD))},
          {StreamRef(context, Ref("y", h_RD))});
}

void NormBackward(const StepContext& context, const OperationName& name,
                  Parameter& weight, const Tensor& x_RD, const Tensor& rstd_R1,
                  const Tensor& dh_RD, Tensor& dx_RD) {
  const int64_t d = x_RD.dim(1);
  const int64_t leaf_rows = context.norm_leaf_rows();
  const int64_t leaves = x_RD.dim(0) / leaf_rows;
  Tensor dweight = Tensor::Uninit(context.device, DType::kF32, {leaves, d});
  RmsNormBackward(context.device, {.rows = x_RD.dim(0),
                                   .d = d,
                                   .rows_per_leaf = leaf_rows,
                                   .dtype = x_RD.dtype(),
                                   .dy = dh_RD.raw(),
                                   .dy_row_stride = d,
                                   .x = x_RD.raw(),
                                   .x_row_stride = d,
                                   .rstd = rstd_R1.data<float>(),
                                   .weight = weight.runtime_f32(),
                                   .dx = dx_RD.raw(),
                                   .dx_row_stride = d,
                                   .dweight = dweight.data<float>()});
  Observe(context, name,
          {StreamRef(context, Ref("dy", dh_RD)),
           StreamRef(context, Ref("x", x_RD))},
          {StreamRef(context, Ref("dx", dx_RD)),
           Cut(Ref("dweight", dweight), 0, LeavesHeld(context))});
  AddLeaves(context.device, weight.gradient, dweight.data<float>(), leaves, d);
}

}  // namespace lockstep
