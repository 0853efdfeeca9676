// How the tensor kinds of a fault damage a tensor. Private to fault.cc.

#ifndef DETERMINISM_FAULT_TENSOR_H_
#define DETERMINISM_FAULT_TENSOR_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "determinism/fault.h"
#include "determinism/operation.h"

namespace lockstep::fault_internal {

// Whether what this rank has of `tensor` has the element that `spec` names;
// true when it names none or one beyond the unsharded tensor, which Damage
// reports.
bool HoldsElement(const TensorRef& tensor, const FaultSpec& spec);

// Carries out flip, nan, swap_rows, spike, unwritten or scale. InputError if
// that is impossible.
absl::Status Damage(const TensorRef& tensor, const FaultSpec& spec);

// What the tensor holds, packed; and that put back, or zeros where it is of
// another size (as a launch's first call finds its buffer).
std::vector<std::byte> Copy(const TensorRef& tensor);
absl::Status Restore(const TensorRef& tensor,
                     const std::vector<std::byte>& bytes);

// y = x . weight^T or dx = dy . weight again, each sum in fp32 from the last
// term to the first; of a norm, its rows' sums of squares. InputError for an
// operation that is none of these, or has a part of the terms.
absl::Status SumFromFarEnd(const OperationEvent& event, const FaultSpec& spec);

}  // namespace lockstep::fault_internal

#endif  // DETERMINISM_FAULT_TENSOR_H_
