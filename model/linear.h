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
#include <vector>

#include "model/gradient_sum.h"
#include "model/observe.h"
#include "model/parameters.h"
#include "model/step_context.h"

namespace lockstep {

// The rows of one parameter in a fused weight, and its gradient; not owned.
struct LinearPart {
  const GradientSum* gradient;
  int64_t rows;
};

// A weight [out, in] as a product sees it. Fused projections span several
// parameters that lie back to back, run-time weights and sums alike, yet each
// has a sum of its own (N5: an exponent is a parameter's).
struct LinearWeight {
  DType dtype;
  const void* runtime;
  std::vector<LinearPart> parts;
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
// micro-batch in ascending order gradient += dy_leaf^T x_leaf.
void LinearBackward(const StepContext& context, const OperationName& name,
                    const LinearWeight& weight, const void* x, const void* dy,
                    void* dx);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_LINEAR_H_
