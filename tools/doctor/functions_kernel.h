// The elementary functions of N8 over an array, once an instruction level.
//
// For the doctor alone: a kernel calls them inside its own loop. The scalar
// level is compiled too, so a machine is held against itself and against the
// committed bits.
#ifndef LOCKSTEP_TOOLS_DOCTOR_FUNCTIONS_KERNEL_H_
#define LOCKSTEP_TOOLS_DOCTOR_FUNCTIONS_KERNEL_H_

#include <cstdint>

#include "model/kernels/registry.h"

namespace lockstep {

// In the order of the file's table; 0 is Exp.
constexpr int kElementaryFunctions = 9;

// y[i] = function(x[i]).
LS_DECLARE_KERNEL(EvaluateFunction, int function, const float* x, float* y,
                  int64_t n)

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DOCTOR_FUNCTIONS_KERNEL_H_
