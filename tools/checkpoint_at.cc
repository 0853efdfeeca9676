#include "tools/checkpoint_at.h"

#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {

bool NamesCheckpoint(FileSystem& fs, const std::string& path) {
  return fs.Exists(JoinPath(path, kIndexFile)) ||
         (fs.Exists(path) && StepOfCheckpointName(BaseName(path)) >= 0);
}

absl::StatusOr<std::string> CheckpointAt(FileSystem& fs,
                                         const std::string& path) {
  if (NamesCheckpoint(fs, path)) return path;
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs, path));
  for (auto c = checkpoints.rbegin(); c != checkpoints.rend(); ++c) {
    if (c->complete) return c->dir;
  }
  if (checkpoints.empty()) {
    return InputError("there is no checkpoint here", path,
                      "name a run's folder or a checkpoint's");
  }
  return checkpoints.back().dir;
}

}  // namespace lockstep
