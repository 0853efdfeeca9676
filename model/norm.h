// RMSNorm over the residual stream, with its parameter's gradient (MODEL 2.2).
//
// What it is: the kernel plus the bookkeeping that every norm of the model
// shares. What it is not: the gated norm inside Mamba-2. Why so: the pre-norms
// and the final norm are one piece of code, with one rounding point (N13).
#ifndef LOCKSTEP_MODEL_NORM_H_
#define LOCKSTEP_MODEL_NORM_H_

#include "model/observe.h"
#include "model/parameters.h"
#include "model/step_context.h"
#include "model/tensor.h"

namespace lockstep {

// h [rows, d] in x's dtype and rstd fp32 [rows, 1] are written.
void NormForward(const StepContext& context, const OperationName& name,
                 const Parameter& weight, double eps, const Tensor& x_RD,
                 Tensor& h_RD, Tensor& rstd_R1);

// Writes dx_RD and adds the micro-batch's leaves, those of the rows that this
// rank's stream has (StepContext::norm_leaf_rows), to the weight's gradient.
void NormBackward(const StepContext& context, const OperationName& name,
                  Parameter& weight, const Tensor& x_RD, const Tensor& rstd_R1,
                  const Tensor& dh_RD, Tensor& dx_RD);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_NORM_H_
