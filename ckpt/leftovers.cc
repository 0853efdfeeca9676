// What opens a run's folder of checkpoints for a new generation: the rests of
// killed saves and deletions go, an abandoned future moves aside.

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ckpt/folder_names.h"
#include "ckpt/save.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// Sorted names, none if the folder is absent.
absl::StatusOr<std::vector<std::string>> ListIfPresent(FileSystem& file_system,
                                                       const std::string& dir) {
  if (!file_system.Exists(dir)) return std::vector<std::string>();
  return file_system.List(dir);
}

// A checkpoint that was moved away for one that never moved in.
absl::StatusOr<bool> PutBack(FileSystem& file_system, const std::string& dir,
                             const std::string& name) {
  const std::string checkpoint = CheckpointOfSideName(kOldPrefix, name);
  if (checkpoint.empty() || file_system.Exists(JoinPath(dir, checkpoint))) {
    return false;
  }
  LS_RETURN_IF_ERROR(
      file_system.Rename(JoinPath(dir, name), JoinPath(dir, checkpoint)));
  LS_RETURN_IF_ERROR(file_system.SyncDir(dir));
  return true;
}

// What a kill left of files that are replaced whole (WriteFileAtomically): of
// those alone, by the beginnings of their names, that only the lock's holder
// writes. A folder that cannot be listed is told of by whoever reads it.
absl::Status RemoveHalfFiles(FileSystem& file_system, const std::string& dir,
                             std::initializer_list<std::string_view> files,
                             std::vector<std::string>& done) {
  const auto names = file_system.List(dir);
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    const bool half =
        name.ends_with(".tmp") &&
        std::any_of(files.begin(), files.end(), [&](std::string_view file) {
          return name.starts_with(file);
        });
    if (!half) continue;
    LS_RETURN_IF_ERROR(file_system.Remove(JoinPath(dir, name)));
    done.push_back("removed " + JoinPath(dir, name) +
                   ", which a killed trainer had not finished");
  }
  return absl::OkStatus();
}

bool IsLeftover(const std::string& name) {
  for (const std::string_view prefix :
       {kTempPrefix, kOldPrefix, kDeletedPrefix}) {
    if (!CheckpointOfSideName(prefix, name).empty()) return true;
  }
  return false;
}

}  // namespace

std::string SideName(std::string_view prefix, std::string_view checkpoint_name,
                     int64_t generation) {
  std::string name(prefix);
  return name.append(checkpoint_name)
      .append("-")
      .append(std::to_string(generation));
}

std::string CheckpointOfSideName(std::string_view prefix,
                                 std::string_view side_name) {
  if (!side_name.starts_with(prefix)) return "";
  side_name.remove_prefix(prefix.size());
  const std::string_view name = side_name.substr(0, side_name.find('-'));
  return StepOfCheckpointName(name) < 0 ? "" : std::string(name);
}

absl::StatusOr<std::vector<std::string>> CleanLeftovers(
    FileSystem& file_system, const std::string& run_dir) {
  const std::string dir = CheckpointsDir(run_dir);
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      ListIfPresent(file_system, dir));
  std::vector<std::string> done;
  for (const std::string& name : names) {
    LS_ASSIGN_OR_RETURN(const bool put_back, PutBack(file_system, dir, name));
    if (put_back) {
      done.push_back("put back " + CheckpointOfSideName(kOldPrefix, name) +
                     ", which had been set aside for a save that was killed");
    } else if (IsLeftover(name)) {
      LS_RETURN_IF_ERROR(file_system.RemoveTree(JoinPath(dir, name)));
      done.push_back("removed " + name +
                     ", the rest of a save that was killed");
    } else if (StepOfCheckpointName(name) >= 0) {
      LS_RETURN_IF_ERROR(RemoveHalfFiles(file_system, JoinPath(dir, name),
                                         {kIndexFile}, done));
    }
  }
  LS_RETURN_IF_ERROR(RemoveHalfFiles(
      file_system, run_dir,
      {kManifestFile, "ledger", "metrics.jsonl", "faults.json"}, done));
  LS_RETURN_IF_ERROR(RemoveHalfFiles(file_system, JoinPath(run_dir, "launches"),
                                     {"launch_"}, done));
  return done;
}

absl::StatusOr<std::vector<std::string>> SetAsideCheckpointsAbove(
    FileSystem& file_system, const std::string& run_dir, int64_t step,
    int64_t generation) {
  const std::string dir = CheckpointsDir(run_dir);
  LS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      ListIfPresent(file_system, dir));
  const std::string abandoned =
      JoinPath(JoinPath(run_dir, "abandoned"), std::to_string(generation));
  std::vector<std::string> moved;
  for (const std::string& name : names) {
    if (StepOfCheckpointName(name) <= step) continue;
    LS_RETURN_IF_ERROR(file_system.MakeDirs(abandoned));
    LS_RETURN_IF_ERROR(
        file_system.Rename(JoinPath(dir, name), JoinPath(abandoned, name)));
    moved.push_back(name);
  }
  if (!moved.empty()) {
    LS_RETURN_IF_ERROR(file_system.SyncDir(abandoned));
    LS_RETURN_IF_ERROR(file_system.SyncDir(dir));
  }
  return moved;
}

}  // namespace lockstep
