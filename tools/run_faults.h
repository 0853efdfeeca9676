// Faults on purpose, as a launch is told of them and as its run keeps them.
//
// What it is: --fault and LOCKSTEP_FAULT parsed, and RUN/faults.json written
// and read by a replay. What it is not: their effect (determinism/fault.h), or
// for code that gives verdicts to look at (visibility enforces that).
//
// RUN/faults.json: {"faults": [TEXT...], "launches": [{"from_step": N,
// "faults": [TEXT...]}...]}: `faults` are those of the last launch; `launches`,
// ascending, say of each launch the step that it went on from. A launch from an
// earlier step takes the later ones away, as it does their metrics.
#ifndef LOCKSTEP_TOOLS_RUN_FAULTS_H_
#define LOCKSTEP_TOOLS_RUN_FAULTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/fault.h"
#include "determinism/file_system.h"
#include "parallel/communicator.h"

namespace lockstep {

// `texts` are those of --fault; those of LOCKSTEP_FAULT, ';' between them, are
// appended to it.
absl::StatusOr<std::vector<FaultSpec>> ReadFaults(
    std::vector<std::string>& texts);

// Adds a launch that goes on from `from_step` to RUN/faults.json; does nothing
// while no launch of the run has had a fault.
absl::Status KeepFaults(FileSystem& fs, const std::string& dir,
                        int64_t from_step,
                        const std::vector<std::string>& faults);

// The faults of all launches that can change a number, each for the steps of
// its launch; without those that stop a process or break a file, after which
// the step was made again. InputError for a file that is damaged.
absl::StatusOr<std::vector<FaultSpec>> KeptFaults(FileSystem& fs,
                                                  const std::string& dir);

// For who does these steps again: what broke them, and whether it does so
// again.
absl::StatusOr<std::vector<std::string>> FaultNotes(FileSystem& fs,
                                                    const std::string& dir,
                                                    int64_t from, int64_t to);

// Those of `faults`, the same on every rank, that no rank met whose they were;
// for a run that came to its end on all of them. `mine` are those that this
// rank did not meet. Collective, also where it has none.
absl::StatusOr<std::vector<std::string>> UnmetByAll(
    Communicator& world, const std::vector<std::string>& faults,
    const std::vector<std::string>& mine);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RUN_FAULTS_H_
