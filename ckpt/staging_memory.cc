#include "ckpt/staging_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLargePage = size_t{2} << 20;

size_t RoundUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

StagingMemory::~StagingMemory() { Free(); }

void StagingMemory::Free() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
  bytes_ = {};
}

absl::Status StagingMemory::Reserve(size_t bytes) {
  if (bytes <= bytes_.size()) return absl::OkStatus();
  Free();
  // One more than needed, so that a large page can begin the block.
  mapped_bytes_ = RoundUp(bytes, kLargePage) + kLargePage;
  void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return IoError("no memory for a copy of the state of " +
                       std::to_string(bytes) + " bytes",
                   "checkpoint.async", "set it to false", ENOSPC);
  }
  mapped_ = mapped;
  madvise(mapped_, mapped_bytes_, MADV_HUGEPAGE);  // a hint
  auto* const begin = static_cast<std::byte*>(mapped_);
  const size_t past = reinterpret_cast<uintptr_t>(begin) % kLargePage;
  const size_t skip = past == 0 ? 0 : kLargePage - past;
  bytes_ = {begin + skip, RoundUp(bytes, kPage)};
  return absl::OkStatus();
}

void StagingMemory::Touch() {
  for (size_t at = 0; at < bytes_.size(); at += kPage) {
    bytes_[at] = std::byte{0};
  }
}

}  // namespace lockstep
