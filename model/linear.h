// A projection without bias, y = x W^T, forward and backward.
//
// What it is: the three matrix products of one projection in the order N3, with
// the weight gradient summed leaf by leaf (N5). What it is not: a module with
// state; the weight belongs to the ParameterStore. Why so: every projection of
// the model has these rounding points (N13): outputs and input gradients are
// rounded once to storage, weight gradients stay fp32.
#ifndef LOCKSTEP_MODEL_LINEAR_H_
#define LOCKSTEP_MODEL_LINEAR_H_

#include <cstdint>

#include "model/observe.h"
#include "model/parameters.h"
#include "model/step_context.h"

namespace lockstep {

// A weight [out, in] as a product sees it. Fused projections span several
// parameters that lie back to back, so it is pointers and not a Parameter.
struct LinearWeight {
  DType dtype;
  const void* runtime;
  float* grad;
  int64_t out;
  int64_t in;
};

LinearWeight WeightOf(const Parameter& parameter);
// One weight over consecutive parameters, rows stacked in list order.
LinearWeight FusedWeight(const Parameter& first, const Parameter& last);

// y [rows, out] = x [rows, in] W^T; both contiguous, in the weight's dtype.
void LinearForward(const StepContext& context, const OperationName& name,
                   const LinearWeight& weight, const void* x, void* y);

// dx [rows, in] = dy W, and for each leaf of the
// micro-batch in ascending order grad += dy_leaf^T x_leaf.
void LinearBackward(const StepContext& context, const OperationName& name,
                    const LinearWeight& weight, const void* x, const void* dy,
                    void* dx);

// grad[i] += leaf[l][i] for leaves l ascending: how a vector's leaves add up.
// `leaves` is [leaves, size].
void AddLeaves(const Tensor& leaves, int64_t size, float* grad);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_LINEAR_H_
