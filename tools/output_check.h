// Whether what a verb is to leave can be written, asked before its work.
//
// What it is: a look at the place that an option names. What it is not: the
// writing, which may still fail, as on a disk that fills up. Why so: hours of
// training must not end at a folder whose name was mistyped.
#ifndef LOCKSTEP_TOOLS_OUTPUT_CHECK_H_
#define LOCKSTEP_TOOLS_OUTPUT_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"

namespace lockstep {

// A file in a folder that is there. InputError names `option`.
absl::Status CheckOutputFile(FileSystem& fs, const std::string& path,
                             const std::string& option);

// A folder that is there, or that can be made.
absl::Status CheckOutputFolder(FileSystem& fs, const std::string& path,
                               const std::string& option);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_OUTPUT_CHECK_H_
