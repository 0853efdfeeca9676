// Faults on purpose, as a launch is told of them and as its run keeps them.
//
// What it is: --fault and LOCKSTEP_FAULT parsed, and RUN/faults.json written
// for a replay to read. What it is not: their effect (determinism/fault.h).
#ifndef LOCKSTEP_TOOLS_RUN_FAULTS_H_
#define LOCKSTEP_TOOLS_RUN_FAULTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/fault.h"
#include "determinism/file_system.h"

namespace lockstep {

// `texts` are those of --fault; those of LOCKSTEP_FAULT, ';' between them, are
// appended to it.
absl::StatusOr<std::vector<FaultSpec>> ReadFaults(
    std::vector<std::string>& texts);

// Writes RUN/faults.json; nothing where there are none.
absl::Status KeepFaults(FileSystem& fs, const std::string& dir,
                        const std::vector<std::string>& faults);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RUN_FAULTS_H_
