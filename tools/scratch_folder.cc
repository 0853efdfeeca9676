#include "tools/scratch_folder.h"

#include <cstdlib>

#include "determinism/file_system.h"
#include "determinism/status.h"

namespace lockstep {

absl::Status ScratchFolder::Make(const std::string& named,
                                 const std::vector<std::string>& runs) {
  FileSystem& fs = *PosixFileSystem();
  if (!named.empty()) {
    dir_ = named;
    for (const std::string& run : runs) {
      if (!fs.Exists(PathOf(run))) continue;
      return InputError("there is a run in this folder already", PathOf(run),
                        "name another folder");
    }
    return fs.MakeDirs(dir_);
  }
  const char* const base = std::getenv("TMPDIR");
  std::string path =
      JoinPath(base == nullptr ? "/tmp" : base, "lockstep-scratch-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return InputError("a temporary folder cannot be made", path,
                      "set TMPDIR, or name a folder with --scratch");
  }
  dir_ = path;
  temporary_ = true;
  return absl::OkStatus();
}

ScratchFolder::~ScratchFolder() {
  if (temporary_) PosixFileSystem()->RemoveTree(dir_).IgnoreError();
}

std::string ScratchFolder::PathOf(const std::string& run) const {
  return JoinPath(dir_, run);
}

}  // namespace lockstep
