// The step of a run once more, in other circumstances than the first time.
//
// What it is: a replay by this program in which fresh memory holds a pattern
// that is no number and no message is on its way while something is computed,
// traced like the first. What it is not: a check: whoever asked compares the
// two traces. Why so: if the step comes to the same bits even so, neither
// memory that nobody wrote nor a message that was not there yet is the cause;
// if not, the traces part at the operation that depends on it.
#ifndef LOCKSTEP_TOOLS_BISECT_POISONED_REPLAY_H_
#define LOCKSTEP_TOOLS_BISECT_POISONED_REPLAY_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/bisect/traced_replay.h"

namespace lockstep {

// The folder of its traces, beside those of the first replay.
std::string PoisonedTraces(const SideOptions& side);

// Whether the step came to the bits on record; a step that ends in a numeric
// failure did not. `visitor` sees it too.
absl::StatusOr<bool> ReplayPoisoned(FileSystem& fs, const SideOptions& side,
                                    const WindowVisitor& visitor = {});

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_POISONED_REPLAY_H_
