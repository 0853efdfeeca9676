// The vectors' functions at every level behind plain pointers, for simd_test.

#ifndef MODEL_KERNELS_SIMD_CHECK_H_
#define MODEL_KERNELS_SIMD_CHECK_H_

#include <cstdint>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

// 16 floats each; count lanes of `to` are written.
LS_DECLARE_KERNEL(SimdNarrowBF16, const float* from, BF16* to, int64_t count)
LS_DECLARE_KERNEL(SimdNarrowF16, const float* from, F16* to, int64_t count)
LS_DECLARE_KERNEL(SimdWidenBF16, const BF16* from, float* to, int64_t count)
LS_DECLARE_KERNEL(SimdWidenF16, const F16* from, float* to, int64_t count)
LS_DECLARE_KERNEL(SimdFma, const float* a, const float* b, const float* c,
                  float* to)
// 256 floats, in place.
LS_DECLARE_KERNEL(SimdTranspose, float* matrix)

}  // namespace lockstep

#endif  // MODEL_KERNELS_SIMD_CHECK_H_
