// What a call that failed says, and the one place that opens.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "determinism/posix_file.h"
#include "determinism/status.h"

namespace lockstep::posix_file {
namespace {

std::string FreeText(const std::string& path) {
  struct statvfs info = {};
  if (statvfs(DirName(path).c_str(), &info) != 0) return "an unknown number of";
  return std::to_string(uint64_t{info.f_bavail} * info.f_frsize);
}

bool IsLink(const std::string& path) {
  struct stat info = {};
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

// What whoever named the path can do about it; empty: something failed inside.
std::string MendOf(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
    case EISDIR:
    case ENOTDIR:
      return "check owner, mode and kind, or give another path";
    case ENXIO:
      return "put a regular file there, or give another path";
    case ELOOP:
      return "put the file itself there: its links lead nowhere";
    case ENOTEMPTY:
      return "move the folder away and look what it holds: nothing here made "
             "it";
    case ENAMETOOLONG:
      return "give a shorter path";
    default:
      return "";
  }
}

}  // namespace

absl::Status Failure(const std::string& call, const std::string& path,
                     int error, uint64_t bytes) {
  if (error == ENOENT) {
    return absl::NotFoundError(call + ": " +
                               std::generic_category().message(error) +
                               "\n  where: " + path +
                               "\n  do: check the path and what should have "
                               "written it");
  }
  if (error == ENOSPC || error == EDQUOT) {
    return IoError(call, path,
                   "free space: " + std::to_string(bytes) +
                       " bytes were still to be written, " + FreeText(path) +
                       " bytes are free",
                   error);
  }
  const std::string mend = MendOf(error);
  if (!mend.empty()) {
    return InputError(call + ": " + std::generic_category().message(error),
                      path, mend);
  }
  return IoError(call, path, "check the device and its mount, then try again",
                 error);
}

bool IsStreamOfTheSystem(const std::string& path) {
  return path.starts_with("/dev/") || path.starts_with("/proc/");
}

absl::Status NoRegularFile(const std::string& path, const std::string& use) {
  return InputError("this is no regular file, and " + use + " might never end",
                    path, "put the file itself there");
}

absl::StatusOr<Descriptor> OpenPath(const std::string& path, int flags) {
  const int fd = Uninterrupted(
      [&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd >= 0) return Descriptor(fd);
  if (errno == EEXIST) {
    return absl::AlreadyExistsError("create: File exists\n  where: " + path +
                                    "\n  do: remove it if nobody uses it");
  }
  const int error = errno;
  // What could be created was not: the folder is missing, or it is a link's.
  if (error == ENOENT && (flags & O_CREAT) != 0 && IsLink(path)) {
    return InputError("this is a symbolic link to what is not there", path,
                      "remove the link, or restore what it leads to");
  }
  if (error == ENXIO && !IsStreamOfTheSystem(path)) {
    const bool reads = (flags & O_ACCMODE) == O_RDONLY;
    return NoRegularFile(path, reads ? "reading it" : "writing to it");
  }
  return Failure("open", path, error);
}

}  // namespace lockstep::posix_file
