// Ranges of rows, once per instruction set level; see slice_tree.h.

#include <algorithm>
#include <cstdint>

#include "model/kernels/simd.h"
#include "model/kernels/slice_tree/slice_tree.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

// Sixteen columns from `at` on. Partial i completes as many pairs as its number
// ends in ones; `left` has one sum a level, of an earlier left half.
F32x16 Combine(const CombineSliceTreeArgs& args, const float* at,
               int64_t columns) {
  F32x16 left[6];  // of up to 64 partials
  F32x16 sum = Zero();
  for (int64_t i = 0; i < args.count; ++i) {
    sum = LoadUpTo(at + i * args.partial_stride, columns);
    int level = 0;
    for (int64_t bits = i; bits % 2 == 1; bits /= 2) {
      sum = Add(left[level++], sum);
    }
    if (i + 1 < args.count) left[level] = sum;
  }
  return sum;
}

template <class S>
void CombineRow(const CombineSliceTreeArgs& args, int64_t row) {
  const float* from = args.partials + row * args.partial_row_stride;
  S* to = static_cast<S*>(args.out) + row * args.out_row_stride;
  for (int64_t j = 0; j < args.columns; j += kLanes) {
    StoreUpTo(Combine(args, from + j, args.columns - j), to + j,
              args.columns - j);
  }
}

}  // namespace

void SliceTreeRange(const CombineSliceTreeArgs& args, int64_t begin,
                    int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    if (args.out_dtype == DType::kBF16) {
      CombineRow<BF16>(args, row);
    } else if (args.out_dtype == DType::kF16) {
      CombineRow<F16>(args, row);
    } else {
      CombineRow<float>(args, row);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
