// What math_soak remembers between calls: one line of text a function.
//
// Replaced as a whole by rename, so that a call which ends at any point leaves
// either the former state or the new one.

#ifndef DETERMINISM_MATH_SOAK_STATE_H_
#define DETERMINISM_MATH_SOAK_STATE_H_

#include <cstdint>
#include <map>
#include <string>

namespace lockstep {

// What is known of one function; one line of the state file.
struct SoakProgress {
  uint64_t next = 0;  // position in ascending order
  uint64_t checked = 0;
  uint64_t by_mpfr = 0;
  uint64_t not_monotone = 0;
  double worst_ulp = 0.0;
  uint32_t worst_bits = 0;
  uint32_t last_y_bits = 0x7fc00000;
};

// By function and options.
using SoakState = std::map<std::string, SoakProgress>;

// Empty where there is no file yet.
SoakState ReadSoakState(const std::string& path);

// A failure ends the program, as a soak without its state is worth nothing.
void WriteSoakState(const std::string& path, const SoakState& state);

}  // namespace lockstep

#endif  // DETERMINISM_MATH_SOAK_STATE_H_
