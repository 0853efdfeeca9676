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

namespace lockstep {

// A run whose code is in no commit cannot be explained later: InputError for a
// dirty or unstamped build unless `allow` has "dirty".
absl::Status CheckBuild(const std::vector<std::string>& allow);

// InputError for a step below 1.
absl::Status CheckUntil(const std::optional<int64_t>& until);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAIN_CHECKS_H_
