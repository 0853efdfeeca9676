// What happened to one of two runs and not to the other, as its ledger says.
//
// What it is: samples that a launch was told to pass over, forks, differences
// that were allowed, other layouts on the way. What it is not: faults that were
// planted, which are no evidence. Why so: what a person asked for in the midst
// of a run stands in no manifest, and explains a step that read other samples.
#ifndef LOCKSTEP_TOOLS_BISECT_LEDGER_EVENTS_H_
#define LOCKSTEP_TOOLS_BISECT_LEDGER_EVENTS_H_

#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"
#include "tools/bisect/evidence.h"

namespace lockstep {

// Adds them to the differences; of a step that is known, whose fields are.
absl::Status TakeEvents(FileSystem& fs, const std::string& a,
                        const std::string& b, Evidence& evidence);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_LEDGER_EVENTS_H_
