// How the tensor kinds of a fault damage a tensor. Private to fault.cc.

#ifndef DETERMINISM_FAULT_TENSOR_H_
#define DETERMINISM_FAULT_TENSOR_H_

#include "absl/status/status.h"
#include "determinism/fault.h"
#include "determinism/operation.h"

namespace lockstep::fault_internal {

// Whether what this rank has of `tensor` has the element that `spec` names;
// true when it names none or one beyond the unsharded tensor, which Damage
// reports.
bool HoldsElement(const TensorRef& tensor, const FaultSpec& spec);

// Carries out flip, nan, swap_rows or spike. InputError if that is impossible.
absl::Status Damage(const TensorRef& tensor, const FaultSpec& spec);

}  // namespace lockstep::fault_internal

#endif  // DETERMINISM_FAULT_TENSOR_H_
