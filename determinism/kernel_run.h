// Which kernel ran, for a trace.
//
// What it is: which of a kernel's variants a device took, and how much it had
// to do. What it is not: anything that decides a bit (N1). Why so: a run that
// differs from another may have had another, and whoever looks for the cause
// should not have to guess. A header of its own, since kernels are compiled
// once an instruction set and may not see inline functions.
#ifndef DETERMINISM_KERNEL_RUN_H_
#define DETERMINISM_KERNEL_RUN_H_

#include <cstdint>
#include <string_view>

namespace lockstep {

// Names live as long as the program.
struct KernelRun {
  std::string_view kernel = {};   // "matmul"
  std::string_view variant = {};  // "avx512"
  std::string_view order = {};    // in which it adds, in words
  int64_t calls = 0;
  int64_t items = 0;  // independent ones, over all calls
};

}  // namespace lockstep

#endif  // DETERMINISM_KERNEL_RUN_H_
