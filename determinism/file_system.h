// The file system as a seam: what a trainer needs of one, and no more.
//
// Everything that reads or writes files takes a FileSystem, so that one test
// double can lose un-synced data (memory_file_system.h) and one decorator can
// break calls at named points (fault_file_system.h). Not a wrapper for
// convenience: a call does one thing, and durability is always asked for by
// name. Data is safe after WritableFile::Sync, a name after SyncDir of the
// folder that holds it; each without the other loses files.
//
// Every error names the path, the system's reason and what to do. Codes:
// NotFound, AlreadyExists (CreateNew only), ResourceExhausted (disk or quota
// full), OutOfRange never, anything else Internal.
// All methods may be called from any thread; one file object from one thread
// at a time, except ReadAt, which may run concurrently.

#ifndef DETERMINISM_FILE_SYSTEM_H_
#define DETERMINISM_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace lockstep {

struct FileInfo {
  uint64_t size = 0;     // bytes
  bool is_dir = false;   // of what a link points to
  bool is_link = false;  // the name itself is a symbolic link
  int64_t mtime_ns = 0;  // since 1970
};

// Destruction without Close drops buffered bytes and reports nothing, so a
// writer that cares calls Close and looks at its status.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual absl::Status Append(std::string_view data) = 0;
  // Hands buffered bytes to the system: readers see them, a power cut may not.
  virtual absl::Status Flush() = 0;
  // Flushes, then waits until the data (not the name) is on the device.
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
};

class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // Exactly `length` bytes; a file that ends before is DataLoss.
  virtual absl::Status ReadAt(uint64_t offset, size_t length,
                              void* out) const = 0;
  // Bytes, as of the open.
  virtual uint64_t Size() const = 0;
  // DataLoss when the open file's size or modification time have changed since
  // the open: what was read before and what is read now may be two files. A
  // path that has come to name another file, as after a rename over it, changes
  // nothing: the open file is still the old one.
  virtual absl::Status CheckUnchanged() const = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Creates or truncates.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) = 0;
  // Creates, or AlreadyExists: of several that try, one succeeds.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> CreateNew(
      const std::string& path) = 0;
  // Creates or continues at the end.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(
      const std::string& path) = 0;

  virtual absl::StatusOr<std::string> ReadFile(const std::string& path) = 0;
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
      const std::string& path) = 0;

  // Atomically replaces a file `to`; a folder `to` must be absent or empty.
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) = 0;
  // Makes the names in the folder `path` durable.
  virtual absl::Status SyncDir(const std::string& path) = 0;
  // With parents; a folder that exists is fine.
  virtual absl::Status MakeDirs(const std::string& path) = 0;
  // A file, a link (not its target) or an empty folder.
  virtual absl::Status Remove(const std::string& path) = 0;
  // With all below, links not followed; an absent path is fine.
  virtual absl::Status RemoveTree(const std::string& path) = 0;

  // Names (not paths), sorted by bytes, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) = 0;
  // False also for a link that points nowhere.
  virtual bool Exists(const std::string& path) = 0;
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // What an unprivileged writer may still use of the device that holds `path`.
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& path) = 0;
};

// The operating system's files. One shared instance without state of its own;
// not owned by the caller.
FileSystem* PosixFileSystem();

// After OK the file holds `contents` and survives a power cut; at any other
// moment it holds the old contents or the new, never a mixture: a temporary
// file `path`.tmp is written, synced and renamed, and the folder synced. One
// writer a path. On failure the temporary file is removed if that is possible.
absl::Status WriteFileAtomically(FileSystem& fs, const std::string& path,
                                 std::string_view contents);

// "a/b" of "a/b/c", "." of "c", "/" of "/c". Lexical only.
std::string DirName(std::string_view path);
// "c" of "a/b/c".
std::string BaseName(std::string_view path);
// One '/' between the two; `name` alone if it is absolute or `dir` is empty.
std::string JoinPath(std::string_view dir, std::string_view name);

}  // namespace lockstep

#endif  // DETERMINISM_FILE_SYSTEM_H_
