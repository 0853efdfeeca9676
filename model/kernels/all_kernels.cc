// One include and one line an operation, both sorted by name.

#include <vector>

#include "model/kernels/matmul/matmul.h"
#include "model/kernels/registry.h"

namespace lockstep {

std::vector<KernelInfo> AllKernels() {
  return {
      MatmulInfo(),
  };
}

}  // namespace lockstep
