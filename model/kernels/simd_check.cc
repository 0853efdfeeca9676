#include "model/kernels/simd_check.h"

#include <cstdint>

#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

void SimdNarrowBF16(const float* from, BF16* to, int64_t count) {
  StoreUpTo(LoadUpTo(from, count), to, count);
}
void SimdNarrowF16(const float* from, F16* to, int64_t count) {
  StoreUpTo(LoadUpTo(from, count), to, count);
}
void SimdWidenBF16(const BF16* from, float* to, int64_t count) {
  StoreUpTo(LoadUpTo(from, count), to, count);
}
void SimdWidenF16(const F16* from, float* to, int64_t count) {
  StoreUpTo(LoadUpTo(from, count), to, count);
}
void SimdFma(const float* a, const float* b, const float* c, float* to) {
  Store(Fma(Load(a), Load(b), Load(c)), to);
}
void SimdTranspose(float* matrix) {
  F32x16 rows[16];
  for (int i = 0; i < 16; ++i) rows[i] = Load(matrix + 16 * i);
  Transpose16x16(rows);
  for (int i = 0; i < 16; ++i) Store(rows[i], matrix + 16 * i);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
