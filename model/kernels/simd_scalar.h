// F32x16 of simd.h as an array. Include simd.h, not this.

#ifndef MODEL_KERNELS_SIMD_SCALAR_H_
#define MODEL_KERNELS_SIMD_SCALAR_H_

#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/inline.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

struct F32x16 {
  float lane[16];
};

LS_MATH_INLINE F32x16 Broadcast(float value) {
  F32x16 out;
  for (int i = 0; i < 16; ++i) out.lane[i] = value;
  return out;
}
LS_MATH_INLINE F32x16 Zero() { return Broadcast(0.0f); }

// T is float, BF16 or F16.
template <class T>
LS_MATH_INLINE F32x16 LoadPartial(const T* from, int64_t count) {
  F32x16 out = Zero();
  for (int64_t i = 0; i < count; ++i) out.lane[i] = ToF32(from[i]);
  return out;
}
template <class T>
LS_MATH_INLINE F32x16 Load(const T* from) {
  return LoadPartial(from, 16);
}

LS_MATH_INLINE void Narrow(float value, float* to) { *to = value; }
LS_MATH_INLINE void Narrow(float value, BF16* to) { *to = ToBF16(value); }
LS_MATH_INLINE void Narrow(float value, F16* to) { *to = ToF16(value); }

template <class T>
LS_MATH_INLINE void StorePartial(F32x16 value, T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) Narrow(value.lane[i], to + i);
}
template <class T>
LS_MATH_INLINE void Store(F32x16 value, T* to) {
  StorePartial(value, to, 16);
}

// a * b + c, rounded once.
LS_MATH_INLINE F32x16 Fma(F32x16 a, F32x16 b, F32x16 c) {
  for (int i = 0; i < 16; ++i) {
    c.lane[i] = __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]);
  }
  return c;
}
LS_MATH_INLINE F32x16 Add(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] += b.lane[i];
  return a;
}
LS_MATH_INLINE F32x16 Sub(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] -= b.lane[i];
  return a;
}
LS_MATH_INLINE F32x16 Mul(F32x16 a, F32x16 b) {
  for (int i = 0; i < 16; ++i) a.lane[i] *= b.lane[i];
  return a;
}

// rows[i] lane j <-> rows[j] lane i.
LS_MATH_INLINE void Transpose16x16(F32x16 (&rows)[16]) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < i; ++j) {
      const float held = rows[i].lane[j];
      rows[i].lane[j] = rows[j].lane[i];
      rows[j].lane[i] = held;
    }
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SIMD_SCALAR_H_
