#include "tools/output_check.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status CheckWritable(const std::string& folder,
                           const std::string& option) {
  if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
  return InputError(
      "this folder cannot be written to", folder,
      absl::StrCat("name another place with ", option, ", or allow it"));
}

}  // namespace

absl::Status CheckOutputFile(FileSystem& fs, const std::string& path,
                             const std::string& option) {
  const auto info = fs.Stat(path);
  if (info.ok() && info->is_dir) {
    return InputError("this is a folder, and a file is to be written", path,
                      absl::StrCat("name a file with ", option));
  }
  const std::string folder = DirName(path);
  const auto parent = fs.Stat(folder);
  if (parent.ok() && parent->is_dir) return CheckWritable(folder, option);
  return InputError(
      parent.ok() ? "this is no folder, and a file is to be written in it"
                  : "there is no such folder to write a file to",
      folder,
      absl::StrCat("make it, or name a file in one that is there with ",
                   option));
}

absl::Status CheckOutputFolder(FileSystem& fs, const std::string& path,
                               const std::string& option) {
  std::string at = path;
  while (!fs.Exists(at)) {
    const std::string above = DirName(at);
    if (above == at) return absl::OkStatus();
    at = above;
  }
  const auto info = fs.Stat(at);
  if (info.ok() && info->is_dir) return CheckWritable(at, option);
  return InputError("this is no folder, and one is to be there or in it", at,
                    absl::StrCat("name another with ", option));
}

}  // namespace lockstep
