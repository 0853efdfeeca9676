// The command line of a job, and what it is told of a resize.
#ifndef LOCKSTEP_TOOLS_LAUNCH_MPIRUN_COMMAND_H_
#define LOCKSTEP_TOOLS_LAUNCH_MPIRUN_COMMAND_H_

#include <string>
#include <vector>

#include "tools/launch/launch_machine.h"
#include "tools/launch/launch_verb.h"

namespace lockstep {

// mpirun with the hosts of `start`, and `program train` with the options; on
// another layout than some start before also what a resume is asked to allow.
std::vector<std::string> MpirunCommand(const LaunchOptions& options,
                                       const std::string& program,
                                       const std::string& run_dir,
                                       const LaunchAction& start,
                                       bool another_layout);

// Of LOCKSTEP_RESIZE (tools/resize_note.h reads it).
std::string ResizeJson(const LaunchAction& start);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_MPIRUN_COMMAND_H_
