// What `train` asks of its options and of its own binary before it begins.
//
// What it is: refusals that need nothing but the command line. What it is not:
// checks of a recipe (run_config.h) or of a run (run_folder.h).
#ifndef LOCKSTEP_TOOLS_TRAIN_CHECKS_H_
#define LOCKSTEP_TOOLS_TRAIN_CHECKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "determinism/fault.h"

namespace lockstep {

// A run whose code is in no commit cannot be explained later: InputError for a
// dirty or unstamped build unless `allow` has "dirty".
absl::Status CheckBuild(const std::vector<std::string>& allow);

// InputError for a step below 1 or beyond kMostSteps.
absl::Status CheckUntil(const std::optional<int64_t>& until);

// InputError for a fault of a rank that the run does not have: nobody would
// ever meet it.
absl::Status CheckFaultRanks(const std::vector<FaultSpec>& faults,
                             int64_t ranks);

// Why a launch of a run that has done `done` steps of `steps` has none to do.
std::string NothingToDo(int64_t done, int64_t steps,
                        const std::optional<int64_t>& until);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAIN_CHECKS_H_
