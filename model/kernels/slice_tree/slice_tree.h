// The sum over slices of clause N4: fp32 partial sums joined by the fixed
// balanced tree, then rounded to storage once.
//
//   s = ((p0 + p1) + (p2 + p3)) + ...,  count a power of two
//
// binary32 under N2. A rank that holds 2^j consecutive slices makes their
// subtree (matmul.h, kTree, F32 c), so partials of any size join to the bits of
// one product over all the slices. Elementwise: no element's sum knows another.
// Not a collective: the partials lie in this rank's memory already.

#ifndef MODEL_KERNELS_SLICE_TREE_SLICE_TREE_H_
#define MODEL_KERNELS_SLICE_TREE_SLICE_TREE_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct CombineSliceTreeArgs {
  int64_t rows = 0;
  int64_t columns = 0;
  // Partial i is [rows, columns] from partials + i * partial_stride on, in
  // slice order; strides count elements.
  int64_t count = 0;  // a power of two, at most 64
  const float* partials = nullptr;
  int64_t partial_stride = 0;
  int64_t partial_row_stride = 0;
  // F32, BF16 or F16. An F32 out may be the first partial itself.
  void* out = nullptr;
  DType out_dtype{};
  int64_t out_row_stride = 0;
};
void CombineSliceTree(Device& device, const CombineSliceTreeArgs& args);

KernelInfo SliceTreeInfo();
// The operation on fixed inputs (self_check.h).
std::string SliceTreeCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_SLICE_TREE_SLICE_TREE_H_
