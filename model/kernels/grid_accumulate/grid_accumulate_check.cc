#include <bit>

#include "model/device.h"
#include "model/kernels/grid_accumulate/grid_accumulate.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string GridAccumulateCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t n = 24'593;
  CheckTensor& leaves = check.Input(DType::kF32, 3, n);
  CheckTensor& sum = check.Output(DType::kI64, 1, n);
  GridStats stats;
  GridAccumulateArgs args;
  args.n = n;
  args.leaves = 3;
  args.leaf = leaves.as<float>();
  args.leaf_stride = leaves.row_stride();
  args.sum = sum.as<int64_t>();
  args.exponent = 13;
  args.stats = &stats;
  GridAccumulate(device, args);
  check.Add(std::bit_cast<uint32_t>(stats.max_abs));
  check.Add(static_cast<uint64_t>(stats.below_grid));
  return check.Digest();
}

}  // namespace lockstep
