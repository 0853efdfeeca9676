// Open files of the MemoryFileSystem. Private to it.

#ifndef DETERMINISM_MEMORY_FILE_H_
#define DETERMINISM_MEMORY_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "determinism/file_system.h"
#include "determinism/memory_disk.h"

namespace lockstep::memory_file_system_internal {

// What an open file keeps; fails once the disk has crashed.
struct Handle {
  std::shared_ptr<Disk> disk;
  std::shared_ptr<Node> node;
  std::string path;
  uint64_t generation;

  absl::Status CheckPower() const;
};

// The files take the disk's lock themselves; those who make one hold it.
std::unique_ptr<WritableFile> MakeWritable(Handle handle);
std::unique_ptr<RandomAccessFile> MakeRandomAccess(Handle handle);

}  // namespace lockstep::memory_file_system_internal

#endif  // DETERMINISM_MEMORY_FILE_H_
