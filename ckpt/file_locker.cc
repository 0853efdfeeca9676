// flock(2), and the double of it for runs in memory.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "ckpt/run_lock.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// The lock is the descriptor's: the kernel drops both when the process ends.
class HeldDescriptor : public HeldFile {
 public:
  explicit HeldDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~HeldDescriptor() override { close(descriptor_); }

 private:
  const int descriptor_;
};

absl::Status CannotOpen(const std::string& path, int error) {
  switch (error) {
    case ENOENT:  // it was there, so it is a link
    case ELOOP:
    case EISDIR:
    case ENXIO:
      return InputError(
          "the lock file is no file: " + std::generic_category().message(error),
          path, "remove the link, folder or socket that has its name");
    case EACCES:
    case EPERM:
    case EROFS:
      return InputError("cannot open the lock file: " +
                            std::generic_category().message(error),
                        path, "check that the run's folder is writable");
    default:
      return IoError("cannot open the lock file", path,
                     "check the device and its mount, then try again", error);
  }
}

class FlockLocker : public FileLocker {
 public:
  absl::StatusOr<std::unique_ptr<HeldFile>> TryLock(
      const std::string& path) override {
    // Writable, because NFS turns flock into a lock of bytes, which asks it.
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return CannotOpen(path, errno);
    auto held = std::make_unique<HeldDescriptor>(descriptor);
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return held;
    if (errno == EWOULDBLOCK) return nullptr;
    return IoError("cannot lock", path,
                   "use a file system with advisory locks for the run's folder",
                   errno);
  }
};

class HeldName : public HeldFile {
 public:
  HeldName(std::shared_ptr<MemoryFileLocker::Table> table, std::string path)
      : table_(std::move(table)), path_(std::move(path)) {}
  ~HeldName() override {
    const std::lock_guard<std::mutex> guard(table_->mutex);
    table_->held.erase(path_);
  }

 private:
  const std::shared_ptr<MemoryFileLocker::Table> table_;
  const std::string path_;
};

}  // namespace

FileLocker* PosixFileLocker() {
  static FlockLocker locker;
  return &locker;
}

MemoryFileLocker::MemoryFileLocker() : table_(std::make_shared<Table>()) {}

absl::StatusOr<std::unique_ptr<HeldFile>> MemoryFileLocker::TryLock(
    const std::string& path) {
  const std::lock_guard<std::mutex> guard(table_->mutex);
  if (!table_->held.insert(path).second) return nullptr;
  return std::make_unique<HeldName>(table_, path);
}

}  // namespace lockstep
