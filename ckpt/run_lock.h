// RUN/lock: one live trainer a run, and a number that unmasks a stale one.
//
// Two guards, because neither is enough alone. An advisory lock of the system
// refuses a second trainer at once and is released by the kernel however the
// holder dies. A generation number stands in the file, at each acquisition
// above all that the run has seen: the file's own, and those of launches/ and
// the ledger, so that a lock file which somebody deleted brings none back
// (last_generation.h). Every commit checks that it is still its own
// (CheckStillHolder), so a trainer that lost the lock without noticing (a file
// system that forgot locks, a host that came back) cannot commit over its
// successor.
//
// The file is only ever appended to, a line of JSON an acquisition, and never
// replaced: the advisory lock is on the file itself. Not a queue: no waiting.

#ifndef CKPT_RUN_LOCK_H_
#define CKPT_RUN_LOCK_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"

namespace lockstep {

// Holds until destroyed.
class HeldFile {
 public:
  virtual ~HeldFile() = default;
};

// The system's advisory locks as a seam.
class FileLocker {
 public:
  virtual ~FileLocker() = default;
  // Null when another holder, of this process or not, has it. The file exists.
  virtual absl::StatusOr<std::unique_ptr<HeldFile>> TryLock(
      const std::string& path) = 0;
};

// flock(2). A shared instance without state of its own.
FileLocker* PosixFileLocker();

// For runs in memory; locks live as long as their holders, not the locker.
class MemoryFileLocker : public FileLocker {
 public:
  MemoryFileLocker();
  absl::StatusOr<std::unique_ptr<HeldFile>> TryLock(
      const std::string& path) override;

  struct Table {
    std::mutex mutex;
    std::set<std::string> held;
  };

 private:
  std::shared_ptr<Table> table_;
};

// Who asks; stands in the file for the message to a second one.
struct LockOwner {
  int64_t pid = 0;
  std::string host;
};
LockOwner ThisProcess();

class RunLock {
 public:
  // InputError names the holder (pid, host, since) if there is one. The folder
  // must exist; nothing is owned.
  static absl::StatusOr<std::unique_ptr<RunLock>> Acquire(
      FileSystem& file_system, FileLocker& locker, const std::string& run_dir,
      const LockOwner& owner, Clock& clock);

  // From 1; ascending over the life of the run, with gaps.
  int64_t generation() const { return generation_; }

  // InputError names the trainer that took the run over.
  absl::Status CheckStillHolder() const;

 private:
  RunLock(FileSystem& file_system, std::string path, int64_t generation,
          std::unique_ptr<HeldFile> held);

  FileSystem& file_system_;
  const std::string path_;
  const int64_t generation_;
  std::unique_ptr<HeldFile> held_;
};

}  // namespace lockstep

#endif  // CKPT_RUN_LOCK_H_
