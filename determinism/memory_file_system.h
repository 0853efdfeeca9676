// A file system in memory that loses whatever was not made durable.
//
// Test double for crash tests: it tells what a process sees from what a device
// holds. File data become durable by WritableFile::Sync, names by SyncDir of
// their folder, and nothing else does it. Crash(seed) cuts the power: of the
// un-synced changes a legal subset survives, chosen by the seed. Legal is what
// POSIX allows and file systems have been seen to do (Pillai et al., "All File
// Systems Are Not Created Equal", OSDI 2014): changes of names survive in any
// combination, each (a rename too) as a whole; of un-synced data any prefix
// survives, with blocks of zeros in it. CrashKeeping makes the losses one can
// go through one by one. Not a model of one file system, not quick, no links,
// no permissions.

#ifndef DETERMINISM_MEMORY_FILE_SYSTEM_H_
#define DETERMINISM_MEMORY_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "determinism/file_system.h"

namespace lockstep {

namespace memory_file_system_internal {
class Disk;
}

// Paths are absolute or relative to "/", which exists. Thread-safe.
class MemoryFileSystem : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  // After `calls` more changing calls (of files too), each such call fails and
  // changes nothing, as if the power were gone; negative lifts the limit.
  void FailAfter(int64_t calls);
  // Changing calls so far; a test walks its crash point from 0 to this.
  int64_t changing_calls() const;
  // Bytes that all files together may take; ResourceExhausted beyond.
  void SetCapacity(uint64_t bytes);

  // Cuts the power and starts again: open files fail from now on, the limit of
  // FailAfter is lifted. The same calls and seed leave the same files.
  void Crash(uint64_t seed);

  // All losses that are legal now, one by one. Changes of names are independent
  // of each other, and so are the data of different files; of a file that no
  // surviving name leads to, the data make no difference. A file with un-synced
  // data has as many outcomes as this: nothing of them survives (nor a
  // truncation, as one more); an append is cut in its midst, comes as zeros, or
  // is whole, with those before it and without those behind it; all lengths
  // survive, with one append as zeros. One cut stands for all of its append:
  // who reads a file that was not synced reads other bytes than were written.
  int64_t name_changes() const;
  // Of each such file that has a name if the changes `kept` survive.
  std::vector<int64_t> DataOutcomes(const std::vector<bool>& kept) const;
  // Products of all of it, whether names lead there or not.
  uint64_t CountLosses() const;
  // Cuts the power; `outcomes` as DataOutcomes, each below its number.
  void CrashKeeping(const std::vector<bool>& kept,
                    const std::vector<int64_t>& outcomes);

  absl::StatusOr<std::unique_ptr<WritableFile>> Create(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> CreateNew(
      const std::string& path) override;
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenAppend(
      const std::string& path) override;
  absl::StatusOr<std::string> ReadFile(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenRead(
      const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status SyncDir(const std::string& path) override;
  absl::Status MakeDirs(const std::string& path) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& dir) override;
  bool Exists(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override;

 private:
  std::shared_ptr<memory_file_system_internal::Disk> disk_;
};

}  // namespace lockstep

#endif  // DETERMINISM_MEMORY_FILE_SYSTEM_H_
