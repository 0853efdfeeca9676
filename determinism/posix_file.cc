#include "determinism/posix_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <bit>
#include <mutex>
#include <optional>

#include "determinism/status.h"

namespace lockstep::posix_file {
namespace {

absl::StatusOr<struct stat> StatFile(int fd, const std::string& path) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return Failure("stat", path, errno);
  // Opening a folder for reading succeeds; using it as a file must not.
  if (S_ISDIR(info.st_mode)) return Failure("open", path, EISDIR);
  if (S_ISREG(info.st_mode) || IsStreamOfTheSystem(path)) return info;
  return NoRegularFile(path, "reading it");
}

absl::Status ReadExactly(int fd, const std::string& path, uint64_t offset,
                         size_t length, void* out) {
  char* next = static_cast<char*>(out);
  while (length > 0) {
    const ssize_t count = Uninterrupted(
        [&] { return pread(fd, next, length, static_cast<off_t>(offset)); });
    if (count < 0) return Failure("read", path, errno);
    if (count == 0) {
      return absl::DataLossError(
          "the file ends " + std::to_string(length) +
          " bytes early\n  where: " + path + ", byte " +
          std::to_string(offset) +
          "\n  do: fetch or prepare the file anew; it was cut short");
    }
    next += count;
    offset += static_cast<uint64_t>(count);
    length -= static_cast<size_t>(count);
  }
  return absl::OkStatus();
}

// Whether size and time are those of the open.
absl::Status CompareStat(const struct stat& then, const struct stat& now,
                         const std::string& path) {
  std::string change;
  if (now.st_size != then.st_size) {
    change = "the file had " + std::to_string(then.st_size) +
             " bytes and now has " + std::to_string(now.st_size);
  } else if (now.st_mtim.tv_sec != then.st_mtim.tv_sec ||
             now.st_mtim.tv_nsec != then.st_mtim.tv_nsec) {
    change = "the file was written to";
  } else {
    return absl::OkStatus();
  }
  return absl::DataLossError(change + " while it was in use\n  where: " + path +
                             "\n  do: leave a run's files alone while it "
                             "runs; start anew if the change was meant");
}

// Whole pages of at least so much come from the device to where they lie.
constexpr size_t kDirectBytes = size_t{1} << 20;
constexpr size_t kPageBytes = 4096;

// A large piece that begins a page in memory and in the file, as a load has
// them, comes past the system's cache (O_DIRECT): the copy there, and from
// there, costs a core more than hashing the bytes does, and nobody reads them
// again soon. Where the file system refuses that, and for all else, the cache
// has it.
class PosixRandomAccessFile : public RandomAccessFile {
 public:
  PosixRandomAccessFile(Descriptor fd, std::string path, struct stat info)
      : fd_(std::move(fd)), path_(std::move(path)), info_(info) {}

  absl::Status ReadAt(uint64_t offset, size_t length,
                      void* out) const override {
    size_t done = 0;
    if (length >= kDirectBytes && offset % kPageBytes == 0 &&
        std::bit_cast<uintptr_t>(out) % kPageBytes == 0) {
      LS_ASSIGN_OR_RETURN(
          done, ReadDirectly(offset, length, static_cast<char*>(out)));
    }
    return ReadExactly(fd_.get(), path_, offset + done, length - done,
                       static_cast<char*>(out) + done);
  }
  uint64_t Size() const override {
    return static_cast<uint64_t>(info_.st_size);
  }
  absl::Status CheckUnchanged() const override {
    struct stat now = {};
    if (fstat(fd_.get(), &now) != 0) return Failure("stat", path_, errno);
    return CompareStat(info_, now, path_);
  }

 private:
  // How much of it came: whole pages, or up to the end of the file; nothing
  // where the file system has no such reads.
  absl::StatusOr<size_t> ReadDirectly(uint64_t offset, size_t length,
                                      char* out) const {
    std::call_once(direct_once_, [&] {
      // The file that is open, whatever its name has come to mean.
      const std::string open_file =
          "/proc/self/fd/" + std::to_string(fd_.get());
      auto direct = OpenPath(open_file, O_RDONLY | O_DIRECT);
      if (direct.ok()) direct_.emplace(*std::move(direct));
    });
    size_t done = 0;
    while (direct_ && length - done >= kPageBytes && done % kPageBytes == 0) {
      const size_t bytes = (length - done) / kPageBytes * kPageBytes;
      const ssize_t count = Uninterrupted([&] {
        return pread(direct_->get(), out + done, bytes,
                     static_cast<off_t>(offset + done));
      });
      if (count < 0 && errno != EINVAL) return Failure("read", path_, errno);
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    return done;
  }

  const Descriptor fd_;
  const std::string path_;
  const struct stat info_;
  mutable std::once_flag direct_once_;
  mutable std::optional<Descriptor> direct_;  // past the cache
};

}  // namespace

absl::StatusOr<OpenedFile> OpenToRead(const std::string& path) {
  // A pipe that nobody writes to must not hold the open.
  const int flags =
      IsStreamOfTheSystem(path) ? O_RDONLY : O_RDONLY | O_NONBLOCK;
  LS_ASSIGN_OR_RETURN(Descriptor fd, OpenPath(path, flags));
  LS_ASSIGN_OR_RETURN(const struct stat info, StatFile(fd.get(), path));
  return OpenedFile{std::move(fd), info};
}

absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
    const std::string& path) {
  LS_ASSIGN_OR_RETURN(OpenedFile file, OpenToRead(path));
  return std::make_unique<PosixRandomAccessFile>(std::move(file.fd), path,
                                                 file.info);
}

}  // namespace lockstep::posix_file
