#include "ckpt/reshard_target.h"

#include <filesystem>

#include "ckpt/checkpoint_index.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The run or the checkpoint whose folder `path` is to lie in, or "".
std::string OwnerOf(FileSystem& file_system, const std::string& path) {
  const auto has = [&](const std::string& dir, const std::string& name) {
    return file_system.Exists(JoinPath(dir, name));
  };
  std::string dir = std::filesystem::absolute(path).lexically_normal();
  while (dir.find_first_not_of('/') != std::string::npos) {
    dir = DirName(dir);
    if (!has(dir, kManifestFile)) continue;
    if (has(dir, kIndexFile)) return "the checkpoint " + dir;
    if (has(dir, "ledger.jsonl")) return "the run " + dir;
  }
  return "";
}

}  // namespace

absl::Status CheckReshardTarget(FileSystem& file_system,
                                const std::string& path) {
  if (file_system.Exists(path)) {
    return InputError("this exists, and is not written over", path,
                      "name a folder that does not");
  }
  const std::string owner = OwnerOf(file_system, path);
  if (owner.empty()) return absl::OkStatus();
  return InputError(
      "this would lie in " + owner + ", where nobody but a trainer writes",
      path,
      "name a folder outside of it; a run takes it from there "
      "with --resume");
}

}  // namespace lockstep
