#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Twelve chains hide the latency of two FMA units; the factor keeps values at
// 1, so no subnormal slows a unit down.
float RunFmaChains(int64_t iterations) {
  constexpr int kChains = 12;
  F32x16 chains[kChains];
  for (F32x16& chain : chains) chain = Broadcast(1.0f);
  const F32x16 one = Broadcast(1.0f), zero = Zero();
  for (int64_t i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) chains[c] = Fma(chains[c], one, zero);
  }
  float sum[kLanes], total = 0;
  for (const F32x16& chain : chains) {
    Store(chain, sum);
    total += sum[0];
  }
  return total;
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
