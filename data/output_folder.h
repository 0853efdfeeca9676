// Whether what a verb is to write has a folder to stand in.
//
// Asked before any work is done. Not for a run's own folder, which is made: a
// mistyped path of the user's would become a tree of folders.

#ifndef DATA_OUTPUT_FOLDER_H_
#define DATA_OUTPUT_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"

namespace lockstep {

// InputError unless the folder of `output` exists and `output` names something
// in it.
absl::Status CheckOutputFolder(FileSystem& fs, const std::string& output);

}  // namespace lockstep

#endif  // DATA_OUTPUT_FOLDER_H_
