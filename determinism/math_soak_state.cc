#include "determinism/math_soak_state.h"

#include <cstdio>
#include <fstream>

#include "determinism/check.h"

namespace lockstep {

SoakState ReadSoakState(const std::string& path) {
  SoakState state;
  std::ifstream file(path);
  std::string key;
  SoakProgress p;
  while (file >> key >> p.next >> p.checked >> p.by_mpfr >> p.not_monotone >>
         p.worst_ulp >> p.worst_bits >> p.last_y_bits) {
    state[key] = p;
  }
  return state;
}

void WriteSoakState(const std::string& path, const SoakState& state) {
  const std::string temporary = path + ".tmp";
  {
    std::ofstream file(temporary);
    file.precision(17);
    for (const auto& [key, p] : state) {
      file << key << ' ' << p.next << ' ' << p.checked << ' ' << p.by_mpfr
           << ' ' << p.not_monotone << ' ' << p.worst_ulp << ' ' << p.worst_bits
           << ' ' << p.last_y_bits << '\n';
    }
    LS_CHECK(file.flush().good()) << "cannot write " << temporary;
  }
  LS_CHECK_EQ(std::rename(temporary.c_str(), path.c_str()), 0) << path;
}

}  // namespace lockstep
