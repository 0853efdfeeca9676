// Where a rank computes: its threads, its instruction set, its memory.
//
// The seam behind which a GPU will stand. Kernels get a Device and nothing
// global, so ranks can be threads of one process (each with a Device of its
// own), and a test can ask any machine for any level it has. Neither threads
// nor isa may change a bit (N1).
//
// Not a stream or a graph: calls are synchronous.

#ifndef MODEL_DEVICE_H_
#define MODEL_DEVICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "determinism/environment.h"
#include "determinism/kernel_run.h"
#include "parallel/thread_pool.h"

namespace lockstep {

class Device {
 public:
  // `isa` must be present on this machine (determinism/environment.h).
  Device(int threads, Isa isa);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  // All memory must have been freed.
  ~Device();

  ThreadPool& threads() { return threads_; }
  Isa isa() const { return isa_; }

  // 64-byte aligned, contents unspecified; bytes = 0 gives a pointer as well.
  // Large blocks are kept for the next request of their size: a training step
  // asks for the same sizes again and again, and fresh pages cost more than
  // many kernels. Running out of memory is a bug of the plan and ends the run.
  void* Allocate(size_t bytes);
  // `bytes` as given to Allocate.
  void Free(void* data, size_t bytes);

  // Bytes asked for and not yet freed, now and at the most; kept blocks are not
  // counted.
  int64_t bytes_in_use() const;
  int64_t peak_bytes() const;

  // Floating-point operations of matrix products so far, 2 a multiply-add,
  // counted by the products themselves (padding is not counted).
  void CountFlops(int64_t flops) {
    flops_.fetch_add(flops, std::memory_order_relaxed);
  }
  int64_t flops() const { return flops_.load(std::memory_order_relaxed); }

  // For a trace: which kernels ran. Off until somebody asks, and then what ran
  // since the last Take, one entry a kernel and variant.
  void WatchKernels() { watches_kernels_ = true; }
  void NoteKernel(const KernelRun& run) {
    if (watches_kernels_) AddKernel(run);
  }
  std::vector<KernelRun> TakeKernels();

 private:
  void AddKernel(const KernelRun& run);

  const Isa isa_;
  std::atomic<int64_t> flops_{0};
  std::atomic<bool> watches_kernels_{false};

  mutable std::mutex mutex_;  // guards what follows
  int64_t bytes_in_use_ = 0;
  int64_t peak_bytes_ = 0;
  int64_t kept_bytes_ = 0;
  std::map<size_t, std::vector<void*>> kept_;  // by rounded size
  std::vector<KernelRun> kernels_;

  ThreadPool threads_;
};

}  // namespace lockstep

#endif  // MODEL_DEVICE_H_
