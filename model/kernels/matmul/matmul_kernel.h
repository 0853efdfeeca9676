// The levels of the matrix product, for matmul.cc and its test.
//
// An item is a strip of the output: 8 rows or 32 columns of one matrix of the
// batch, whichever side is longer (a rule of shape alone). Items are
// independent, so a range of them is a list of rectangles.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_KERNEL_H_
#define MODEL_KERNELS_MATMUL_MATMUL_KERNEL_H_

#include <cstdint>

#include "model/kernels/matmul/matmul.h"
#include "model/kernels/registry.h"

namespace lockstep {

// Where the items of a product lie.
struct MatmulStrips {
  bool by_columns;
  int64_t extent;     // rows or columns of an item
  int64_t per_batch;  // items of one matrix
};

static inline MatmulStrips StripsOf(int64_t m, int64_t n) {
  const bool by_columns = n >= m;
  const int64_t extent = by_columns ? 32 : 8;
  const int64_t length = by_columns ? n : m;
  return {by_columns, extent, (length + extent - 1) / extent};
}

LS_DECLARE_KERNEL(MatmulRange, const MatmulArgs& args, int64_t begin,
                  int64_t end)
namespace amx {
void MatmulRange(const MatmulArgs& args, int64_t begin, int64_t end);
}

// MatmulBlock of matmul_block.h over positions [k_begin, k_end), for its test.
LS_DECLARE_KERNEL(MatmulPart, const MatmulArgs& args, int64_t k_begin,
                  int64_t k_end)
namespace amx {
void MatmulPart(const MatmulArgs& args, int64_t k_begin, int64_t k_end);
}

using MatmulRangeFunction = void (*)(const MatmulArgs&, int64_t, int64_t);
// All levels that hold their promise here.
KernelVariants<MatmulRangeFunction> MatmulVariants();
// Whether a level gives the scalar level's bytes for a hostile product in BF16.
bool FollowsOrder(MatmulRangeFunction multiply);

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_KERNEL_H_
