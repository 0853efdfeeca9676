// F32x16: sixteen floats, the same sixteen at every instruction-set level.
//
// For *_kernel.cc files that write their vectors by hand. One zmm at avx512
// (and above), two ymm at avx2, an array at scalar. The logical width is fixed,
// so code written once has one order at every level (N1); a level changes how
// many registers the sixteen take, never which float meets which.
//
// Not a full vector library: what auto-vectorises well from a plain loop should
// stay a plain loop. Everything is static and inlined in LOCKSTEP_ISA_NS, so no
// symbol of a newer level can reach an older CPU.
//
// Arithmetic is binary32 under the caller's ScopedFloatEnv (N2). Fma is fused
// at every level. Conversions flush nothing and give the bits of
// determinism/dtype.h: BF16 by integer arithmetic, F16 by VCVTPS2PH and
// VCVTPH2PS, whose only exposure to FTZ and DAZ would be at binary32
// subnormals, which become zero in F16 either way (simd_test checks the bits).

#ifndef MODEL_KERNELS_SIMD_H_
#define MODEL_KERNELS_SIMD_H_

#if defined(__AVX512F__)
#include "model/kernels/simd_avx512.h"
#elif defined(__AVX2__)
#include "model/kernels/simd_avx2.h"
#else
#include "model/kernels/simd_scalar.h"
#endif

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

constexpr int64_t kLanes = 16;

// The first `count` of 16 lanes; the others read as +0 and are not written.
// Nothing beyond them is touched in memory. 0 <= count; 16 and more mean all.
template <class T>
LS_MATH_INLINE F32x16 LoadUpTo(const T* from, int64_t count) {
  return count >= kLanes ? Load(from) : LoadPartial(from, count);
}
template <class T>
LS_MATH_INLINE void StoreUpTo(F32x16 value, T* to, int64_t count) {
  if (count >= kLanes) {
    Store(value, to);
  } else {
    StorePartial(value, to, count);
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SIMD_H_
