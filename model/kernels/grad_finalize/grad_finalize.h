// From a gradient's unnormalised sum to the final gradient, and its first
// fault.
//
//   g = fp32(fp64(sum) / divisor),  divisor = N_tok * loss_scale in fp64
//   (exact: a count below 2^53 times a power of two)
// in place; division and narrowing each round once (N5). For the integer sums
// of `layout_invariant`
//   g = fp32(fp64(q) * 2^-e / divisor)
// where conversion, division and narrowing each round once and the power of two
// is exact; a result below 2^-126 is zero (N2).
//
// FirstNonFinite is the lowest index of an infinity or NaN, -1 if there is
// none.

#ifndef MODEL_KERNELS_GRAD_FINALIZE_GRAD_FINALIZE_H_
#define MODEL_KERNELS_GRAD_FINALIZE_GRAD_FINALIZE_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct GradFinalizeArgs {
  int64_t n = 0;
  float* grad = nullptr;  // [n], in and out
  double divisor = 0;     // > 0
};
void GradFinalize(Device& device, const GradFinalizeArgs& args);

struct GradFinalizeGridArgs {
  int64_t n = 0;
  const int64_t* sum = nullptr;  // [n], on the grid 2^-exponent
  float* grad = nullptr;         // [n], overlaps sum nowhere
  int exponent = 0;              // at most 512 either way
  double divisor = 0;            // > 0
};
void GradFinalizeGrid(Device& device, const GradFinalizeGridArgs& args);

int64_t FirstNonFinite(Device& device, const float* values, int64_t n);

KernelInfo GradFinalizeInfo();
// The operation on fixed inputs (self_check.h).
std::string GradFinalizeCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_GRAD_FINALIZE_GRAD_FINALIZE_H_
