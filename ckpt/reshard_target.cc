#include "ckpt/reshard_target.h"

#include <algorithm>
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

// A link that leads nowhere has a name, and nothing is there.
bool IsListed(FileSystem& file_system, const std::string& path) {
  const auto names = file_system.List(DirName(path));
  return names.ok() && std::count(names->begin(), names->end(),
                                  std::string(BaseName(path))) > 0;
}

}  // namespace

absl::Status CheckReshardTarget(FileSystem& file_system,
                                const std::string& path) {
  if (path.empty()) {
    return InputError("no folder is named to write to", "--output",
                      "name one that does not exist");
  }
  if (file_system.Exists(path)) {
    return InputError("this exists, and is not written over", path,
                      "name a folder that does not");
  }
  if (IsListed(file_system, path)) {
    return InputError("this is a symbolic link to what is not there", path,
                      "name a folder that does not exist");
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
