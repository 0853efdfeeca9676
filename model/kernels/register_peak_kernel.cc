#include "model/kernels/register_peak_kernel.h"

#include <cstdint>

#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// More chains than latency times units (4 x 2 at most), fewer than registers.
#if defined(__AVX512F__)
constexpr int kChains = 12;
#elif defined(__AVX2__)
constexpr int kChains = 6;  // of two registers each
#else
constexpr int kChains = 1;
#endif

void RegisterFmas(int64_t rounds, float* sink, int64_t* flops) {
  F32x16 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = Load(sink);
  // Contracts towards 1: no subnormals, no overflow, nothing constant.
  const F32x16 factor = Broadcast(0.999f);
  const F32x16 term = Broadcast(0.001f);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chains[i] = Fma(chains[i], factor, term);
    }
  }
  for (int i = 1; i < kChains; ++i) chains[0] = Add(chains[0], chains[i]);
  Store(chains[0], sink);
  *flops = rounds * kChains * kLanes * 2;
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
