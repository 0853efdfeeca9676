// Whether a program that is to be started can be.
//
// What it is: the search that execvp(3) makes, and what is wrong where that
// would fail. What it is not: the start (job.h), nor a look into the file. Why
// so: a launcher that tries again after failures must not try for an hour what
// is a slip of its user's hand.
#ifndef LOCKSTEP_TOOLS_LAUNCH_PROGRAM_PATH_H_
#define LOCKSTEP_TOOLS_LAUNCH_PROGRAM_PATH_H_

#include <string>

#include "absl/status/status.h"

namespace lockstep {

// InputError: `program` is not there, is a folder, or may not be executed.
// `option` is where it was given; `path` is PATH.
absl::Status CheckProgram(const std::string& program, const std::string& option,
                          const std::string& path);

// The PATH of this process, or what execvp takes where there is none.
std::string ProgramSearchPath();

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_PROGRAM_PATH_H_
