// Memory for a copy of a rank's state: whole pages, kept from one save to the
// next.
//
// What it is: a block that begins a page, so that a device can be written from
// it past the system's cache (determinism/posix_file.cc), and large pages where
// the system has them, so that the copy does not wait for address lookups. What
// it is not: an allocator. Why so: fresh pages cost more than the copy into
// them; a step would wait for both. Inside ckpt only.

#ifndef CKPT_STAGING_MEMORY_H_
#define CKPT_STAGING_MEMORY_H_

#include <cstddef>
#include <span>

#include "absl/status/status.h"

namespace lockstep {

class StagingMemory {
 public:
  StagingMemory() = default;
  ~StagingMemory();
  StagingMemory(const StagingMemory&) = delete;
  StagingMemory& operator=(const StagingMemory&) = delete;

  // At least so much; what was there is lost when it has to grow.
  // ResourceExhausted where the system has no more.
  absl::Status Reserve(size_t bytes);
  // Has the system give the pages now and not at the first copy.
  void Touch();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  void Free();

  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::span<std::byte> bytes_;
};

}  // namespace lockstep

#endif  // CKPT_STAGING_MEMORY_H_
