// One call of every operation of model/kernels, at the shapes of a step of
// hybrid_100m, for `lockstep bench kernels`.
//
// What it is: operands, the call, and what it cannot do without: the FLOPs of
// its products, and its operands' bytes, each read or written once. What it is
// not: a test of what comes out. A list of calls rather than a function in each
// KernelInfo, so that kernels need not know how they are measured; a test holds
// it to the registry.
#ifndef LOCKSTEP_TOOLS_BENCH_KERNEL_WORK_H_
#define LOCKSTEP_TOOLS_BENCH_KERNEL_WORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/device.h"

namespace lockstep {

// Operands of one call; what is taken lives as long.
class WorkMemory {
 public:
  // Elements of a storage of two bytes each, bfloat16 values in (-1, 1).
  void* Storage(int64_t count);
  // In (low, high).
  float* Floats(int64_t count, float low, float high);
  // In [0, below).
  int32_t* Numbers(int64_t count, int32_t below);
  // Zeros.
  void* Bytes(int64_t bytes);

  int64_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> taken_;
  int64_t bytes_ = 0;
};

struct KernelWork {
  std::string operation;  // as in AllKernels()
  std::string name;       // "rms_norm backward"
  int64_t flops = 0;      // of products; 0: memory bounds it
  int64_t bytes = 0;
  std::function<void()> run;
};

// Makes the operands of one work and its call, when it is wanted.
struct KernelWorkMaker {
  std::string operation;
  std::string name;
  std::function<KernelWork(Device& device)> make;
};

// Of an operation that memory bounds. `fill` takes operands and returns the
// call; all that it took is counted, once.
using FillWork = std::function<void()> (*)(Device& device, WorkMemory& memory);
KernelWorkMaker MemoryWork(const std::string& operation, const std::string& way,
                           FillWork fill);

// In the order of the registry, and below it forward before backward.
std::vector<KernelWorkMaker> AllKernelWork();

// The parts of it, by what they work on.
void AddRowWork(std::vector<KernelWorkMaker>& all);
void AddProductWork(std::vector<KernelWorkMaker>& all);
void AddParameterWork(std::vector<KernelWorkMaker>& all);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_KERNEL_WORK_H_
