#include "tools/bench/raw_device.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kPiece = size_t{4} << 20;
constexpr size_t kPage = 4096;

absl::Status Failed(const std::string& call, const std::string& path) {
  return IoError(call, path,
                 "name a folder of a file system with O_DIRECT by --scratch",
                 errno);
}

// Opens, works, closes.
template <typename Work>
absl::Status WithFile(const std::string& path, int flags, const Work& work) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0) return Failed("open", path);
  const absl::Status done = work(fd);
  if (close(fd) != 0 && done.ok()) return Failed("close", path);
  return done;
}

}  // namespace

absl::Status RawWrite(const std::string& path,
                      std::span<const std::byte> bytes) {
  const size_t whole = bytes.size() / kPage * kPage;
  return WithFile(path, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT, [&](int fd) {
    for (size_t at = 0; at < whole;) {
      const ssize_t wrote =
          write(fd, bytes.data() + at, std::min(kPiece, whole - at));
      if (wrote <= 0) return Failed("write", path);
      at += static_cast<size_t>(wrote);
    }
    return fsync(fd) == 0 ? absl::OkStatus() : Failed("fsync", path);
  });
}

absl::Status RawRead(const std::string& path, std::span<std::byte> bytes) {
  return WithFile(path, O_RDONLY | O_DIRECT, [&](int fd) {
    for (size_t at = 0; at + kPage <= bytes.size();) {
      const size_t most = (bytes.size() - at) / kPage * kPage;
      const ssize_t got = read(fd, bytes.data() + at, std::min(kPiece, most));
      if (got < 0) return Failed("read", path);
      at += static_cast<size_t>(got);
      if (static_cast<size_t>(got) % kPage != 0 || got == 0) break;
    }
    return absl::OkStatus();
  });
}

absl::Status DropCached(const std::string& path) {
  return WithFile(path, O_RDONLY, [&](int fd) {
    if (fdatasync(fd) != 0) return Failed("fdatasync", path);
    errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return errno == 0 ? absl::OkStatus() : Failed("posix_fadvise", path);
  });
}

}  // namespace lockstep
