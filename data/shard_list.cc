#include "data/shard_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include "data/data_error.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr char kWild[] = "*?[";

bool IsDir(FileSystem& fs, const std::string& path) {
  const auto info = fs.Stat(path);
  return info.ok() && info->is_dir;
}

bool IsPattern(const std::string& path) {
  return path.find_first_of(kWild) != std::string::npos;
}

absl::Status NoShards(const std::string& path) {
  return InputError("no shard is here", path,
                    "name a .bin file, a folder of them, a pattern such as "
                    "data/fineweb_train_*.bin, or a .list file");
}

// Files of `dir` whose name fits; hidden ones never do.
absl::StatusOr<std::vector<std::string>> Matching(FileSystem& fs,
                                                  const std::string& dir,
                                                  const std::string& pattern) {
  auto names = fs.List(dir);
  if (!names.ok()) {
    return AsInputError(names.status());
  }
  std::vector<std::string> found;
  for (const std::string& name : *names) {
    const std::string path = dir == "." ? name : JoinPath(dir, name);
    if (fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0 &&
        !IsDir(fs, path)) {
      found.push_back(path);
    }
  }
  return found;
}

absl::StatusOr<std::vector<std::string>> ReadList(FileSystem& fs,
                                                  const std::string& path) {
  auto text = fs.ReadFile(path);
  if (!text.ok()) {
    return AsInputError(text.status());
  }
  std::vector<std::string> found;
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (!line.empty()) {
      found.push_back(JoinPath(DirName(path), line));
    }
  }
  return found;
}

}  // namespace

bool NamesShards(FileSystem& fs, const std::string& path) {
  // A pair stands before a folder of its name, such as the run that reads it.
  if (fs.Exists(path + ".bin") && fs.Exists(path + ".idx")) return false;
  if (path.ends_with(".bin") && fs.Exists(path) && !IsDir(fs, path)) {
    return !fs.Exists(path.substr(0, path.size() - 4) + ".idx");
  }
  return IsPattern(path) || path.ends_with(".list") || IsDir(fs, path);
}

absl::StatusOr<std::vector<std::string>> ListShards(FileSystem& fs,
                                                    const std::string& path) {
  std::vector<std::string> found;
  if (IsDir(fs, path)) {
    LS_ASSIGN_OR_RETURN(found, Matching(fs, path, "*.bin"));
  } else if (fs.Exists(path) && !path.ends_with(".list")) {
    found = {path};
  } else if (path.ends_with(".list")) {
    LS_ASSIGN_OR_RETURN(found, ReadList(fs, path));
  } else if (IsPattern(DirName(path))) {
    return InputError("a pattern can stand in the last part of a path only",
                      path, "name the shards in a .list file, a path a line");
  } else {
    LS_ASSIGN_OR_RETURN(found, Matching(fs, DirName(path), BaseName(path)));
  }
  if (found.empty()) {
    return NoShards(path);
  }
  std::vector<std::string> sorted = found;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return InputError("a shard is named twice: " + *twice, path,
                      "name each shard once");
  }
  return found;
}

}  // namespace lockstep
