// Picks the fastest form of a function that exists at three levels and gives
// the same bits at each.
//
// For code of this folder only, which kernels call and which therefore cannot
// ask them for a level: the choice is of speed alone (N1), so no recipe has a
// say, and it costs a load of libgcc's table. Kernels, and fingerprints, are
// dispatched by the Isa of environment.h, which LOCKSTEP_ISA may lower.

#ifndef DETERMINISM_CPU_LEVEL_H_
#define DETERMINISM_CPU_LEVEL_H_

namespace lockstep {

// F16C, which the level may use too, is older than AVX2, and Clang 14 cannot
// ask for it.
inline bool CpuHasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

inline bool CpuHasAvx512() {
  return CpuHasAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

template <class Function>
Function FastestOf(Function scalar, Function avx2, Function avx512) {
  if (CpuHasAvx512()) return avx512;
  return CpuHasAvx2() ? avx2 : scalar;
}

}  // namespace lockstep

#endif  // DETERMINISM_CPU_LEVEL_H_
