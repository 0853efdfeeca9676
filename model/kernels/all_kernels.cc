// One include and one line an operation, both sorted by name.

#include <vector>

#include "model/kernels/attention/attention.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/registry.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {

std::vector<KernelInfo> AllKernels() {
  return {
      AttentionInfo(),
      MatmulInfo(),
      SsdScanInfo(),
  };
}

}  // namespace lockstep
