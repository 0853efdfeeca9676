// Whether what a verb is to write has a folder to stand in, and one that it
// does not read.
//
// Asked before any work is done. Not for a run's own folder, which is made: a
// mistyped path of the user's would become a tree of folders. Why the second:
// called again, it would take what it wrote for text.

#ifndef DATA_OUTPUT_FOLDER_H_
#define DATA_OUTPUT_FOLDER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "determinism/file_system.h"

namespace lockstep {

// InputError unless the folder of `output` exists and `output` names something
// in it, and if it is one of the `inputs` or lies in one.
absl::Status CheckOutputFolder(FileSystem& fs, const std::string& output,
                               const std::vector<std::string>& inputs);

}  // namespace lockstep

#endif  // DATA_OUTPUT_FOLDER_H_
