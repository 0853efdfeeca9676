// What grad_finalize.cc hands to its kernels for FirstNonFinite; nobody else's.

#ifndef MODEL_KERNELS_GRAD_FINALIZE_NON_FINITE_SCAN_H_
#define MODEL_KERNELS_GRAD_FINALIZE_NON_FINITE_SCAN_H_

#include <cstdint>

namespace lockstep {

constexpr int64_t kNonFiniteChunk = 16384;

struct NonFiniteScan {
  const float* values;
  int64_t n;
  int64_t* first_by_chunk;  // [ceil(n / kNonFiniteChunk)]; -1: all finite
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_GRAD_FINALIZE_NON_FINITE_SCAN_H_
