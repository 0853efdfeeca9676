// Which checkpoint a verb's argument means.
#ifndef LOCKSTEP_TOOLS_CHECKPOINT_AT_H_
#define LOCKSTEP_TOOLS_CHECKPOINT_AT_H_

#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// Whether it is a checkpoint's own folder, whole or not.
bool NamesCheckpoint(FileSystem& fs, const std::string& path);

// That folder, or the newest complete one of a run's; where none is complete,
// the newest. InputError where there is none.
absl::StatusOr<std::string> CheckpointAt(FileSystem& fs,
                                         const std::string& path);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_CHECKPOINT_AT_H_
