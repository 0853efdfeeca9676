// The sum of a row's exponentials over slices of the vocabulary (N4).

#ifndef MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_TREE_H_
#define MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_TREE_H_

#include <algorithm>
#include <cstdint>

#include "determinism/ordered_sum.h"

namespace lockstep::LOCKSTEP_ISA_NS {

// Slices of `width` columns, of which the first `valid` columns count: each by
// OrderedSum, up to 64 of them by the tree. Slice 0b0111 completes three pairs,
// 0b1011 two: as many as its number ends in ones. `left` has one sum a level,
// of an earlier left half.
static inline float SumOfSlices(const float* exps, int64_t valid, int64_t width,
                                int64_t slices) {
  float left[6];
  float sum = 0.0f;
  for (int64_t s = 0; s < slices; ++s) {
    const int64_t begin = s * width;
    sum =
        OrderedSum(exps + begin, std::clamp<int64_t>(valid - begin, 0, width));
    int level = 0;
    for (int64_t bits = s; bits % 2 == 1; bits /= 2) {
      sum = left[level++] + sum;
    }
    if (s + 1 < slices) left[level] = sum;
  }
  return sum;
}

}  // namespace lockstep::LOCKSTEP_ISA_NS

#endif  // MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_TREE_H_
