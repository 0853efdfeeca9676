#include "determinism/file_system.h"

#include <utility>

#include "determinism/status.h"

namespace lockstep {
namespace {

absl::Status WriteAndSync(FileSystem& fs, const std::string& path,
                          std::string_view contents) {
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                      fs.Create(path));
  LS_RETURN_IF_ERROR(file->Append(contents));
  LS_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status WriteFileAtomically(FileSystem& fs, const std::string& path,
                                 std::string_view contents) {
  const std::string temporary = path + ".tmp";
  absl::Status status = WriteAndSync(fs, temporary, contents);
  if (status.ok()) status = fs.Rename(temporary, path);
  if (!status.ok()) {
    // The first error is the one to tell; a leftover is overwritten next time.
    (void)fs.Remove(temporary);
    return status;
  }
  return fs.SyncDir(DirName(path));
}

std::string DirName(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  if (slash == 0) return "/";
  return std::string(path.substr(0, slash));
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return std::string(path);
  return std::string(path.substr(slash + 1));
}

std::string JoinPath(std::string_view dir, std::string_view name) {
  if (dir.empty() || name.starts_with('/')) return std::string(name);
  std::string path(dir);
  if (!path.ends_with('/')) path.push_back('/');
  return path.append(name);
}

}  // namespace lockstep
