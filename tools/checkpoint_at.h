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

// A model is a run's, and one of its checkpoints.
struct ModelPlace {
  std::string run_dir;
  std::string checkpoint;  // empty: the newest that verifies
};

// Of a run's folder and maybe a `checkpoint` (--checkpoint), or of a
// checkpoint's own folder within its run. InputError where it is in none, and
// where both name one.
absl::StatusOr<ModelPlace> PlaceOfModel(FileSystem& fs, const std::string& path,
                                        const std::string& checkpoint);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_CHECKPOINT_AT_H_
