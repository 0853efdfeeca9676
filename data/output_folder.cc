#include "data/output_folder.h"

#include "determinism/status.h"

namespace lockstep {

absl::Status CheckOutputFolder(FileSystem& fs, const std::string& output) {
  const std::string where = "--output " + output;
  if (output.empty() || output.ends_with('/')) {
    return InputError("the output has no name, only a folder", where,
                      "add a name, such as " + output + "books");
  }
  const std::string folder = DirName(output);
  const auto info = fs.Stat(folder);
  if (info.ok() && info->is_dir) {
    return absl::OkStatus();
  }
  return InputError(
      info.ok() ? "what should be the output's folder is a file"
                : "the output's folder does not exist",
      where + ", folder " + folder,
      info.ok() ? "name another folder"
                : "make it with `mkdir -p " + folder + "`, or name another");
}

}  // namespace lockstep
