// A projection without bias, y = x W^T, forward and backward, of one rank's
// share of it.
//
// What it is: the three matrix products of one projection in the order N3, with
// the weight gradient summed leaf by leaf (N5), and the sum over slices and
// ranks where tensor parallelism cuts the contraction (N4): of a weight cut by
// rows (column-parallel) that is the input gradient, of one cut by columns
// (row-parallel) the output. What it is not: a module with state; the weight
// belongs to the ParameterStore. Why so: every projection of the model has
// these rounding points (N13): outputs and input gradients are rounded once to
// storage, after the last addition; weight gradients stay fp32.
#ifndef LOCKSTEP_MODEL_LINEAR_H_
#define LOCKSTEP_MODEL_LINEAR_H_

#include <cstdint>
#include <vector>

#include "model/gradient_sum.h"
#include "model/kernels/matmul/matmul.h"
#include "model/observe.h"
#include "model/parameters.h"
#include "model/split.h"
#include "model/step_context.h"

namespace lockstep {

// The rows of one parameter in a fused weight, and its gradient; not owned.
struct LinearPart {
  const GradientSum* gradient;
  int64_t rows;
};

// What a contraction over the cut dim looks like on this rank.
struct HeldSlices {
  int64_t count = 0;         // slices held; 0: the sum is not cut (one slice)
  int64_t segments_per = 0;  // of a slice, one a part of the weight
  std::vector<KSegment> segments = {};  // slice by slice
};

// A weight [out, in] as a product sees it. Fused projections span several
// parameters that lie back to back, run-time weights and sums alike, yet each
// has a sum of its own (N5: an exponent is a parameter's).
struct LinearWeight {
  DType dtype;
  const void* runtime;
  std::vector<LinearPart> parts;
  int64_t out;  // rows and columns held
  int64_t in;
  int cut_dim;  // 0: rows, 1: columns, -1: every rank has all of it
  HeldSlices slices;
  HeldDim held;  // of cut_dim, in the unsharded fused weight

  HeldDim held_out() const { return cut_dim == 0 ? held : HeldDim{}; }
  HeldDim held_in() const { return cut_dim == 1 ? held : HeldDim{}; }
};

LinearWeight WeightOf(const Parameter& parameter, const TensorShare& share);
// One weight over consecutive parameters, rows stacked in list order.
LinearWeight FusedWeight(const Parameter& first, const Parameter& last,
                         const TensorShare& share);

// y = x W^T; contiguous, in the weight's dtype. x is [rows, in]; y is [rows,
// out], or of a weight cut by columns a residual stream, [stream rows, out].
void LinearForward(const StepContext& context, const OperationName& name,
                   const LinearWeight& weight, const void* x, void* y);

// dx = dy W, and for each leaf of the micro-batch in ascending order
// gradient += dy_leaf^T x_leaf. dy [rows, out], x [rows, in]; dx is [rows, in],
// or of a weight cut by rows a residual stream, [stream rows, in].
void LinearBackward(const StepContext& context, const OperationName& name,
                    const LinearWeight& weight, const void* x, const void* dy,
                    void* dx);

// dx of some rows alone, rounded once to dx_dtype. Of a weight cut by rows it
// is the sum over the slices that this rank holds: where others hold the rest,
// take it as fp32, for TensorAxis::SumStream.
void InputGradientRows(const StepContext& context, const LinearWeight& weight,
                       int64_t rows, const void* dy, void* dx, DType dx_dtype);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_LINEAR_H_
