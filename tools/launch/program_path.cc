#include "tools/launch/program_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "determinism/file_system.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// "": it can be started.
std::string WrongWith(const std::string& file) {
  struct stat info = {};
  if (stat(file.c_str(), &info) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? "is not there"
                                               : "cannot be looked at";
  }
  if (S_ISDIR(info.st_mode)) return "is a folder";
  if (!S_ISREG(info.st_mode)) return "is no file";
  return access(file.c_str(), X_OK) == 0 ? "" : "may not be executed";
}

}  // namespace

std::string ProgramSearchPath() {
  const char* const path = std::getenv("PATH");
  return path == nullptr ? "/bin:/usr/bin" : path;
}

absl::Status CheckProgram(const std::string& program, const std::string& option,
                          const std::string& path) {
  const std::string where = absl::StrCat(option, " ", program);
  if (program.find('/') != std::string::npos) {
    const std::string wrong = WrongWith(program);
    if (wrong.empty()) return absl::OkStatus();
    return InputError(absl::StrCat("the program ", program, " ", wrong), where,
                      "give the path of one that can be run");
  }
  // As execvp does, what may not be executed is passed over for a later one.
  std::string passed;
  for (const std::string& folder :
       std::vector<std::string>(absl::StrSplit(path, ':'))) {
    const std::string file = JoinPath(folder.empty() ? "." : folder, program);
    const std::string wrong = WrongWith(file);
    if (wrong.empty() && !program.empty()) return absl::OkStatus();
    if (wrong == "is not there") continue;
    passed += absl::StrCat("; ", file, " ", wrong);
  }
  return InputError(
      absl::StrCat("no folder of PATH has a program '", program, "'", passed),
      where, "install it, or give its path");
}

}  // namespace lockstep
