// What posix_file_system.cc and the other posix_*.cc share:
// descriptors, errors, and the two kinds of open file. Private to them.

#ifndef DETERMINISM_POSIX_FILE_H_
#define DETERMINISM_POSIX_FILE_H_

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "determinism/file_system.h"

namespace lockstep::posix_file {

// The status of a failed call. `bytes` is what a write still had to store; 0
// for other calls.
absl::Status Failure(const std::string& call, const std::string& path,
                     int error, uint64_t bytes = 0);

// Retries a call that a signal interrupted.
template <typename Call>
auto Uninterrupted(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// /dev/stdin, /dev/fd/3 and the like: whoever names one means that stream.
bool IsStreamOfTheSystem(const std::string& path);

// The refusal of a pipe, a socket or another kind that no file has; `use` is
// what was wanted of it, as "reading it".
absl::Status NoRegularFile(const std::string& path, const std::string& use);

// AlreadyExists for O_EXCL on a path that is there; InputError for a link to
// what is not there and cannot be made.
absl::StatusOr<Descriptor> OpenPath(const std::string& path, int flags);

struct OpenedFile {
  Descriptor fd;
  struct stat info;
};
// Without waiting. InputError for what is no regular file, unless it is named
// below /dev or /proc.
absl::StatusOr<OpenedFile> OpenToRead(const std::string& path);

// Without waiting, as reads. Of what is no regular file only what is named
// below /dev or /proc, and a device of characters, is written to.
absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path,
                                                        int flags);
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
    const std::string& path);

}  // namespace lockstep::posix_file

#endif  // DETERMINISM_POSIX_FILE_H_
