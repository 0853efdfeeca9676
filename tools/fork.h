// The checkpoint that a fork grows from: `train --fork CKPT --run NEW`.
//
// What it is: that checkpoint, read in full and verified, with the manifest it
// was saved under, and the length of the schedule that the fork is to have.
// What it is not: the new run's folder (run_folder.h). Why so: a fork copies
// nothing that has not been verified, and never writes to its parent's folder:
// a trainer may be alive on it.
#ifndef LOCKSTEP_TOOLS_FORK_H_
#define LOCKSTEP_TOOLS_FORK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "ckpt/find.h"
#include "ckpt/manifest.h"
#include "determinism/file_system.h"

namespace lockstep {

struct ForkSource {
  FoundCheckpoint checkpoint;
  Manifest manifest;  // the copy in the checkpoint
};

// InputError: no such checkpoint. NoUsableCheckpoint: it is damaged.
absl::StatusOr<ForkSource> OpenForkSource(FileSystem& fs,
                                          const std::string& checkpoint);

// Whether the recipe text of the parent and of the fork say the same about the
// run's length and the shape of its curve: then the curve goes on as it was
// resolved at the parent's step 0.
bool KeepsSchedule(const std::string& parent_text,
                   const std::string& fork_text);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_FORK_H_
