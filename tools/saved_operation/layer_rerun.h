// A saved operation done again, as part of its layer.
//
// What it is: the layer with the saved parameters, run forward, and backward
// where the operation belongs there, on the saved input, by as many tensor
// ranks as the run's layer was cut over; what the operation announced on the
// way, on the rank that bisect named, is the answer. What it is not: the
// operation alone: what its layer gives it is computed too, and held against
// what was saved. Why so: layers are what knows how to call a kernel (slices,
// strides, segments); a second list of all operations would be another program,
// and could be wrong in its own way.
#ifndef LOCKSTEP_TOOLS_SAVED_OPERATION_LAYER_RERUN_H_
#define LOCKSTEP_TOOLS_SAVED_OPERATION_LAYER_RERUN_H_

#include <vector>

#include "absl/status/statusor.h"
#include "determinism/environment.h"
#include "tools/saved_operation/saved_operation.h"

namespace lockstep {

struct OperationRerun {
  std::vector<KeptTensor> inputs = {};
  // Without running sums over micro-batches (`..._sum`).
  std::vector<KeptTensor> outputs = {};
};

// InputError where the file says that it cannot be done alone, or lacks a part.
absl::StatusOr<OperationRerun> RerunOperation(const SavedOperation& operation,
                                              Isa isa, int threads);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SAVED_OPERATION_LAYER_RERUN_H_
