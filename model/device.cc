#include "model/device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "determinism/check.h"
#include "determinism/fresh_memory.h"

namespace lockstep {
namespace {

constexpr size_t kAlignment = 64;
// Below this malloc is quick and returns no pages to the system.
constexpr size_t kKeepFrom = size_t{64} << 10;

size_t Rounded(size_t bytes) {
  return std::max(kAlignment,
                  (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

void* PoisonIfAsked(void* data, size_t bytes) {
  if (IsFreshMemoryPoisoned()) std::memset(data, kPoisonByte, bytes);
  return data;
}

}  // namespace

Device::Device(int threads, Isa isa) : isa_(isa), threads_(threads) {}

Device::~Device() {
  LS_CHECK_EQ(bytes_in_use_, 0) << "memory outlives its device";
  for (auto& [size, blocks] : kept_) {
    for (void* block : blocks) std::free(block);
  }
}

void* Device::Allocate(size_t bytes) {
  const size_t size = Rounded(bytes);
  LS_CHECK_GE(size, bytes) << "size overflows";
  {
    std::lock_guard<std::mutex> lock(mutex_);
    bytes_in_use_ += static_cast<int64_t>(bytes);
    peak_bytes_ = std::max(peak_bytes_, bytes_in_use_);
    const auto kept = kept_.find(size);
    if (kept != kept_.end() && !kept->second.empty()) {
      void* data = kept->second.back();
      kept->second.pop_back();
      kept_bytes_ -= static_cast<int64_t>(size);
      return PoisonIfAsked(data, size);
    }
  }
  void* data = std::aligned_alloc(kAlignment, size);
  LS_CHECK(data != nullptr) << "out of memory: " << bytes << " bytes asked for";
  return PoisonIfAsked(data, size);
}

void Device::Free(void* data, size_t bytes) {
  if (data == nullptr) return;
  const size_t size = Rounded(bytes);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    bytes_in_use_ -= static_cast<int64_t>(bytes);
    LS_CHECK_GE(bytes_in_use_, 0);
    // What is kept stays below the peak, so the process never holds more than
    // twice what the run needed at once.
    const int64_t kept_after = kept_bytes_ + static_cast<int64_t>(size);
    if (size >= kKeepFrom && kept_after <= peak_bytes_) {
      kept_[size].push_back(data);
      kept_bytes_ = kept_after;
      return;
    }
  }
  std::free(data);
}

void Device::AddKernel(const KernelRun& run) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (KernelRun& known : kernels_) {
    if (known.kernel != run.kernel || known.variant != run.variant) continue;
    known.calls += run.calls;
    known.items += run.items;
    return;
  }
  kernels_.push_back(run);
}

std::vector<KernelRun> Device::TakeKernels() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(kernels_, {});
}

int64_t Device::bytes_in_use() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_in_use_;
}

int64_t Device::peak_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return peak_bytes_;
}

}  // namespace lockstep
