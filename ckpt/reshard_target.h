// Where a resharded checkpoint may be written. Inside ckpt only.
//
// A run's folder has one writer, its trainer, which cleans and rotates what
// lies in it; a checkpoint's has none once it is saved.

#ifndef CKPT_RESHARD_TARGET_H_
#define CKPT_RESHARD_TARGET_H_

#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"

namespace lockstep {

// InputError for a path that exists, or lies in a run's or a checkpoint's
// folder, however deep.
absl::Status CheckReshardTarget(FileSystem& file_system,
                                const std::string& path);

}  // namespace lockstep

#endif  // CKPT_RESHARD_TARGET_H_
