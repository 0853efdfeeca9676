// FileSystem over the system calls of Linux.

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "determinism/file_system.h"
#include "determinism/posix_file.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using posix_file::Descriptor;
using posix_file::Failure;
using posix_file::OpenPath;
using posix_file::Uninterrupted;

// Of a file that is read whole: sixteen million lines of metrics. A sparse one
// of terabytes costs nothing to make.
constexpr int64_t kMostBytes = int64_t{16} << 30;

absl::Status CheckFitsMemory(const std::string& path, const struct stat& info) {
  // Readers keep what they make of it as well, and training its own.
  const int64_t quarter =
      int64_t{sysconf(_SC_PHYS_PAGES)} / 4 * int64_t{sysconf(_SC_PAGESIZE)};
  const int64_t most = std::min(kMostBytes, quarter);
  if (info.st_size <= most) return absl::OkStatus();
  return InputError("the file has " + std::to_string(info.st_size) +
                        " bytes, and at most " + std::to_string(most) +
                        " are read whole on this machine",
                    path,
                    "move it away if something blew it up, or take a machine "
                    "with more memory");
}

class Posix : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) override {
    return posix_file::OpenWrite(path, O_WRONLY | O_CREAT | O_TRUNC);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNew(
      const std::string& path) override {
    return posix_file::OpenWrite(path, O_WRONLY | O_CREAT | O_EXCL);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(
      const std::string& path) override {
    return posix_file::OpenWrite(path, O_WRONLY | O_CREAT | O_APPEND);
  }

  absl::StatusOr<std::string> ReadFile(const std::string& path) override {
    LS_ASSIGN_OR_RETURN(const posix_file::OpenedFile file,
                        posix_file::OpenToRead(path));
    LS_RETURN_IF_ERROR(CheckFitsMemory(path, file.info));
    std::string contents;
    contents.reserve(static_cast<size_t>(file.info.st_size));
    char block[16384];
    while (true) {
      const ssize_t count = Uninterrupted(
          [&] { return read(file.fd.get(), block, sizeof(block)); });
      if (count < 0) return Failure("read", path, errno);
      if (count == 0) return contents;
      contents.append(block, static_cast<size_t>(count));
    }
  }

  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
      const std::string& path) override {
    return posix_file::OpenRead(path);
  }

  // A device or a pipe is no file that an output could replace, though rename
  // would do it.
  absl::Status Rename(const std::string& from, const std::string& to) override {
    struct stat there;
    if (lstat(to.c_str(), &there) == 0 && !S_ISREG(there.st_mode) &&
        !S_ISDIR(there.st_mode) && !S_ISLNK(there.st_mode)) {
      return InputError("replacing what is no regular file", to,
                        "remove it, or give another path");
    }
    if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return Failure("rename", from + " -> " + to, errno);
  }

  absl::Status SyncDir(const std::string& path) override {
    LS_ASSIGN_OR_RETURN(const Descriptor fd,
                        OpenPath(path, O_RDONLY | O_DIRECTORY));
    if (Uninterrupted([&] { return fsync(fd.get()); }) != 0) {
      return Failure("fsync of the folder", path, errno);
    }
    return absl::OkStatus();
  }

  absl::Status MakeDirs(const std::string& path) override {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string prefix = path.substr(0, end);
      if (mkdir(prefix.c_str(), 0777) != 0 && errno != EEXIST) {
        return Failure("mkdir", prefix, errno);
      }
      if (end == std::string::npos) break;
    }
    LS_ASSIGN_OR_RETURN(const FileInfo info, Stat(path));
    if (!info.is_dir) return Failure("mkdir", path, ENOTDIR);
    return absl::OkStatus();
  }

  absl::Status Remove(const std::string& path) override {
    if (remove(path.c_str()) == 0) return absl::OkStatus();
    return Failure("remove", path, errno);
  }

  absl::Status RemoveTree(const std::string& path) override {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (!error) return absl::OkStatus();
    return Failure("remove of the folder", path, error.value());
  }

  absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) override {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator entry(dir, error);
    for (; !error && entry != std::filesystem::directory_iterator();
         entry.increment(error)) {
      names.push_back(entry->path().filename().string());
    }
    if (error) return Failure("list", dir, error.value());
    std::sort(names.begin(), names.end());
    return names;
  }

  bool Exists(const std::string& path) override {
    struct stat info = {};
    return stat(path.c_str(), &info) == 0;
  }

  absl::StatusOr<FileInfo> Stat(const std::string& path) override {
    struct stat link = {};
    if (lstat(path.c_str(), &link) != 0) return Failure("stat", path, errno);
    struct stat info = link;
    if (S_ISLNK(link.st_mode) && stat(path.c_str(), &info) != 0) {
      return Failure("stat of a link's target", path, errno);
    }
    return FileInfo{
        .size = static_cast<uint64_t>(info.st_size),
        .is_dir = S_ISDIR(info.st_mode),
        .is_link = S_ISLNK(link.st_mode),
        .mtime_ns =
            int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
    };
  }

  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override {
    struct statvfs info = {};
    if (statvfs(path.c_str(), &info) != 0) {
      return Failure("statvfs", path, errno);
    }
    return uint64_t{info.f_bavail} * info.f_frsize;
  }
};

}  // namespace

FileSystem* PosixFileSystem() {
  static Posix instance;
  return &instance;
}

}  // namespace lockstep
