// The step once more, for the bytes of what one operation was given and left.
//
// What it is: the poisoned replay (poisoned_replay.h), in which one operation's
// tensors are copied, and what its layer needs to do it again. What it is not:
// a trace, whose bytes would be those of all operations. Why so: which bytes
// are wanted is known only after the first replay, and the second is done
// anyway.
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
