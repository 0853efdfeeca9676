// Files that are written, past the system's cache where that pays.

#include <fcntl.h>

#include <bit>
#include <optional>

#include "determinism/posix_file.h"
#include "determinism/status.h"

namespace lockstep::posix_file {
namespace {

constexpr size_t kWriteBufferBytes = 64 * 1024;
// Of what is written, the device is given so much at once.
constexpr size_t kWriteBehindBytes = size_t{8} << 20;
// Whole pages of at least so much go to the device from where they lie.
constexpr size_t kDirectBytes = size_t{1} << 20;
constexpr size_t kPageBytes = 4096;

// A large piece that begins a page in memory and in the file, as checkpoints
// have them, goes past the system's cache (O_DIRECT): a copy of it there would
// take memory and a core's time from the steps, and nobody reads it soon. Where
// the file system refuses that, and for all else, the cache has it.
class PosixWritableFile : public WritableFile {
 public:
  // `place` is where the next byte goes; absent: wherever the file ends then.
  PosixWritableFile(Descriptor fd, std::string path,
                    std::optional<uint64_t> place)
      : fd_(std::move(fd)), path_(std::move(path)), place_(place) {}

  absl::Status Append(std::string_view data) override {
    if (buffer_.size() + data.size() > kWriteBufferBytes) {
      LS_RETURN_IF_ERROR(Flush());
      if (data.size() >= kWriteBufferBytes) return WriteAll(data);
    }
    buffer_.append(data);
    return absl::OkStatus();
  }

  absl::Status Flush() override {
    const std::string data = std::exchange(buffer_, std::string());
    return WriteAll(data);
  }

  absl::Status Sync() override {
    LS_RETURN_IF_ERROR(Flush());
    if (Uninterrupted([&] { return fsync(fd_.get()); }) != 0) {
      error_ = Failure("fsync", path_, errno);
    }
    return error_;
  }

  absl::Status Close() override {
    if (fd_.get() < 0) return error_;
    const absl::Status flushed = Flush();
    // Linux closes even when interrupted; a second close might hit another
    // thread's file.
    const int result = close(fd_.Release());
    LS_RETURN_IF_ERROR(flushed);
    if (result != 0 && errno != EINTR) error_ = Failure("close", path_, errno);
    return error_;
  }

 private:
  absl::Status WriteAll(std::string_view data) {
    LS_RETURN_IF_ERROR(error_);
    while (!data.empty()) {
      const size_t direct = DirectPart(data);
      const size_t bytes = direct > 0 ? direct : data.size();
      const ssize_t written =
          Uninterrupted([&] { return write(fd_.get(), data.data(), bytes); });
      if (written < 0 && direct > 0 && errno == EINVAL) {
        place_.reset();  // refused: the cache from here on
        continue;
      }
      if (written < 0) {
        error_ = Failure("write", path_, errno, data.size());
        return error_;
      }
      data.remove_prefix(static_cast<size_t>(written));
      if (place_) *place_ += static_cast<uint64_t>(written);
      if (direct == 0) WriteBehind(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  // How much of `data` the next write may take past the cache; switches the
  // file to that, or back.
  size_t DirectPart(std::string_view data) {
    const bool fits = place_ && data.size() >= kDirectBytes &&
                      *place_ % kPageBytes == 0 &&
                      std::bit_cast<uintptr_t>(data.data()) % kPageBytes == 0;
    if (fits != direct_) {
      const int flags = fcntl(fd_.get(), F_GETFL);
      if (flags < 0 || fcntl(fd_.get(), F_SETFL, flags ^ O_DIRECT) != 0) {
        place_.reset();
        return 0;
      }
      direct_ = fits;
    }
    return fits ? data.size() / kPageBytes * kPageBytes : 0;
  }

  // The device writes while the caller makes the next bytes, and a sync finds
  // little left to wait for. A hint: where it is not taken, the kernel writes
  // later, and it is fsync that tells whether that went well.
  void WriteBehind(size_t written) {
    waiting_bytes_ += written;
    if (waiting_bytes_ < kWriteBehindBytes) return;
    waiting_bytes_ = 0;
    sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);
  }

  // The first error sticks: what was written before it is unknown, and a
  // second fsync may say OK about pages that the first one has given up.
  absl::Status error_;
  Descriptor fd_;
  const std::string path_;
  std::string buffer_;
  std::optional<uint64_t> place_;
  bool direct_ = false;
  size_t waiting_bytes_ = 0;  // given to the kernel, not yet to the device
};

// A pipe that nobody reads must not hold the open, nor one that is full a
// write; a device such as /dev/full is waited for as ever.
absl::StatusOr<Descriptor> OpenToWrite(const std::string& path, int flags) {
  if (IsStreamOfTheSystem(path)) return OpenPath(path, flags);
  LS_ASSIGN_OR_RETURN(Descriptor fd, OpenPath(path, flags | O_NONBLOCK));
  struct stat info = {};
  if (fstat(fd.get(), &info) != 0) return Failure("stat", path, errno);
  if (S_ISREG(info.st_mode)) return fd;
  if (!S_ISCHR(info.st_mode)) return NoRegularFile(path, "writing to it");
  if (fcntl(fd.get(), F_SETFL, flags & O_APPEND) != 0) {
    return Failure("fcntl", path, errno);
  }
  return fd;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WritableFile>> OpenWrite(const std::string& path,
                                                        int flags) {
  LS_ASSIGN_OR_RETURN(Descriptor fd, OpenToWrite(path, flags));
  const bool at_end = (flags & O_APPEND) != 0;
  return std::make_unique<PosixWritableFile>(
      std::move(fd), path, at_end ? std::nullopt : std::optional<uint64_t>(0));
}

}  // namespace lockstep::posix_file
