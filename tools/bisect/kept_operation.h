// The step once more, for the bytes of what one operation was given and left.
//
// What it is: a replay by this program in other circumstances than the first:
// fresh memory holds a pattern that is no number, and no message is on its way
// while something is computed. What it is not: a trace. Why so: if the step
// comes to the same bits even so, neither memory that nobody wrote nor a
// message that was not there yet is the cause.
#ifndef LOCKSTEP_TOOLS_BISECT_KEPT_OPERATION_H_
#define LOCKSTEP_TOOLS_BISECT_KEPT_OPERATION_H_

#include "absl/status/statusor.h"
#include "tools/bisect/traced_replay.h"
#include "tools/saved_operation/saved_operation.h"

namespace lockstep {

struct KeptOperation {
  bool recurs = false;  // the step, to the bits on record
  // Its outputs are outputs_a; runs and outputs_b are whoever's who has both.
  SavedOperation saved = {};
};

absl::StatusOr<KeptOperation> KeepOperation(FileSystem& fs,
                                            const SideOptions& options,
                                            const OperationIdentity& identity,
                                            int rank);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_KEPT_OPERATION_H_
