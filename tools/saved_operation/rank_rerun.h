// A saved operation done again: one tensor rank's part of the layer.
//
// Inside this folder only; layer_rerun.h has what it is. All ranks of the axis
// call, each with a device of its own.
#ifndef LOCKSTEP_TOOLS_SAVED_OPERATION_RANK_RERUN_H_
#define LOCKSTEP_TOOLS_SAVED_OPERATION_RANK_RERUN_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/device.h"
#include "model/tensor_axis.h"
#include "tools/run_config.h"
#include "tools/saved_operation/layer_rerun.h"
#include "tools/saved_operation/saved_operation.h"

namespace lockstep {

absl::StatusOr<OperationRerun> RerunOnRank(const SavedOperation& operation,
                                           const RunConfig& config,
                                           int64_t layer, Device& device,
                                           TensorAxis& axis);

// InputError: the saved operation lacks that.
absl::Status Lacks(const std::string& what);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SAVED_OPERATION_RANK_RERUN_H_
