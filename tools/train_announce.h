// The first lines of a launch: what is trained, how, and what is odd about it.
//
// What it is: text for stderr. What it is not: a check that refuses anything
// (train_checks.h, step_memory.h, run_folder.h). Why so: what a person would
// want to stop a run for stands in its first lines, not in its last.
#ifndef LOCKSTEP_TOOLS_TRAIN_ANNOUNCE_H_
#define LOCKSTEP_TOOLS_TRAIN_ANNOUNCE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/progress.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {

// Lines that were collected while the run was set up.
struct LaunchNotes {
  std::string layout = {};                // of several ranks; "" for one
  std::vector<std::string> faults = {};   // on purpose, as they were given
  std::vector<std::string> notices = {};  // of the data
  std::vector<std::string> skips = {};    // what is passed over
};

absl::Status AnnounceLaunch(const ResolvedRun& run, const Machine& machine,
                            const Stepper& stepper, const LaunchNotes& notes,
                            Progress& progress);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAIN_ANNOUNCE_H_
