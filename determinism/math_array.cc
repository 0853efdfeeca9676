#include "determinism/math_array.h"

#include "determinism/cpu_level.h"

namespace lockstep {

std::vector<ArrayLevel> ArrayLevelsHere() {
  std::vector<ArrayLevel> levels = {{"scalar", scalar::Arrays()}};
  if (CpuHasAvx2()) levels.push_back({"avx2", avx2::Arrays()});
  if (CpuHasAvx512()) levels.push_back({"avx512", avx512::Arrays()});
  return levels;
}

}  // namespace lockstep
