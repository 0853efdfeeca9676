#include "data/output_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "determinism/status.h"

namespace lockstep {
namespace {

// Without links, dots and a last slash, as far as it exists.
std::filesystem::path Plain(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  auto plain = std::filesystem::weakly_canonical(absolute, error);
  if (error) plain = absolute.lexically_normal();
  return plain.has_filename() ? plain : plain.parent_path();
}

bool LiesIn(const std::filesystem::path& path,
            const std::filesystem::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end())
             .first == folder.end();
}

absl::Status CheckApart(FileSystem& fs, const std::string& output,
                        const std::string& folder,
                        const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    const auto info = fs.Stat(input);
    if (!info.ok() || !info->is_dir) continue;
    if (!LiesIn(Plain(folder), Plain(input))) continue;
    return InputError("the output lies in a folder that is read as text",
                      output + ", in " + input,
                      "name an output elsewhere; another call would read it "
                      "with the text");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOutputFolder(FileSystem& fs, const std::string& output,
                               const std::vector<std::string>& inputs) {
  const std::string where = "--output " + output;
  if (output.empty() || output.ends_with('/')) {
    return InputError("the output has no name, only a folder", where,
                      "add a name, such as " + output + "books");
  }
  const std::string folder = DirName(output);
  const auto info = fs.Stat(folder);
  if (info.ok() && info->is_dir) {
    return CheckApart(fs, output, folder, inputs);
  }
  return InputError(
      info.ok() ? "what should be the output's folder is a file"
                : "the output's folder does not exist",
      where + ", folder " + folder,
      info.ok() ? "name another folder"
                : "make it with `mkdir -p " + folder + "`, or name another");
}

}  // namespace lockstep
