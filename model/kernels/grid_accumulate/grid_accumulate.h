// Leaves that are no products (norm weights, convolution, dt_bias, rows of the
// embedding) added to the integer grid of clause N5.
//
//   sum[i] = sum[i] + RNE(leaf[l][i] * 2^e) modulo 2^64, for every leaf l
//
// The rules are those of a product with an I64 c (matmul.h): an infinity, a NaN
// and |g| * 2^e >= 2^62 add 0, which the maximum in `stats` tells; a subnormal
// counts as zero (N2); sum = nullptr is a probe. Integers have no order, so
// neither has this.

#ifndef MODEL_KERNELS_GRID_ACCUMULATE_GRID_ACCUMULATE_H_
#define MODEL_KERNELS_GRID_ACCUMULATE_GRID_ACCUMULATE_H_

#include <cstdint>
#include <string>

#include "model/kernels/grid.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct GridAccumulateArgs {
  int64_t n = 0;
  int64_t leaves = 1;
  const float* leaf = nullptr;  // leaf l starts l * leaf_stride further on
  int64_t leaf_stride = 0;      // elements
  int64_t* sum = nullptr;       // [n]
  int exponent = 0;             // at most 512 either way
  GridStats* stats = nullptr;   // merged into; not null
};
void GridAccumulate(Device& device, const GridAccumulateArgs& args);

KernelInfo GridAccumulateInfo();
// The operation on fixed inputs (self_check.h).
std::string GridAccumulateCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_ACCUMULATE_GRID_ACCUMULATE_H_
