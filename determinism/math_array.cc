#include "determinism/math_array.h"

namespace lockstep {

std::vector<ArrayLevel> ArrayLevelsHere() {
  std::vector<ArrayLevel> levels = {{"scalar", scalar::Arrays()}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    levels.push_back({"avx2", avx2::Arrays()});
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    levels.push_back({"avx512", avx512::Arrays()});
  }
  return levels;
}

}  // namespace lockstep
