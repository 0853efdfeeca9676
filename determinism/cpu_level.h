// Picks the fastest form of a function that exists at three levels and gives
// the same bits at each.
//
// For code of this folder only, which kernels call and which therefore cannot
// ask them for a level: the choice is of speed alone (N1), so no recipe has a
// say. LOCKSTEP_ISA lowers it as it does the Isa of environment.h; a level that
// is no level is refused there, before anything is computed, and ignored here.

#ifndef DETERMINISM_CPU_LEVEL_H_
#define DETERMINISM_CPU_LEVEL_H_

#include <cstdlib>
#include <string_view>

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
  const char* const forced = std::getenv("LOCKSTEP_ISA");
  const std::string_view level = forced == nullptr ? "" : forced;
  if (level == "scalar" || !CpuHasAvx2()) return scalar;
  return level == "avx2" || !CpuHasAvx512() ? avx2 : avx512;
}

}  // namespace lockstep

#endif  // DETERMINISM_CPU_LEVEL_H_
