// The first step at which two runs part, where their metrics do not say.
//
// What it is: one replay of each over all steps in question, with fingerprints
// that the runs did not take. What it is not: a search by halves: the steps
// between have to be done anyhow, so one pass sees each of them. Why so: a loss
// shows a difference steps after it began.
#ifndef LOCKSTEP_TOOLS_BISECT_STEP_SEARCH_H_
#define LOCKSTEP_TOOLS_BISECT_STEP_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/bisect/traced_replay.h"

namespace lockstep {

struct FoundStep {
  int64_t step = 0;  // 0: none of them differs
  std::vector<std::string> fields = {};
};

// From where the sides begin to their step.
absl::StatusOr<FoundStep> SearchStep(FileSystem& fs, const SideOptions& a,
                                     const SideOptions& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_STEP_SEARCH_H_
