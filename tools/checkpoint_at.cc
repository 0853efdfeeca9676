#include "tools/checkpoint_at.h"

#include <filesystem>

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

absl::StatusOr<ModelPlace> PlaceOfModel(FileSystem& fs, const std::string& path,
                                        const std::string& checkpoint) {
  if (!NamesCheckpoint(fs, path)) return ModelPlace{path, checkpoint};
  if (!checkpoint.empty()) {
    return InputError("two checkpoints are named: " + path,
                      "--checkpoint " + checkpoint,
                      "name a run's folder, or leave --checkpoint out");
  }
  // From here, since the folder that one stands in may be all that is named.
  const auto folder =
      (std::filesystem::absolute(path) / "").lexically_normal().parent_path();
  const std::string run = folder.parent_path().parent_path().string();
  if (folder.parent_path() != CheckpointsDir(run) ||
      !fs.Exists(JoinPath(run, "manifest.json"))) {
    return InputError("this checkpoint lies in no run's folder", path,
                      "name the run it is of, and it with --checkpoint");
  }
  return ModelPlace{run, folder.string()};
}

}  // namespace lockstep
