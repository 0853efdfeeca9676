// Rounding to the grid of N5 by integer arithmetic on the bits: the truth for
// tests. It shares no code with grid_add.h, and no floating-point unit either.

#ifndef MODEL_KERNELS_GRID_REFERENCE_H_
#define MODEL_KERNELS_GRID_REFERENCE_H_

#include <bit>
#include <cstdint>

#include "model/kernels/grid.h"

namespace lockstep {

// The integer that q = RNE(g * 2^e) adds to a sum; 0 where the contract says
// so. Puts g into the statistics.
inline int64_t GridReference(float g, int exponent, GridStats& stats) {
  const uint32_t bits = std::bit_cast<uint32_t>(g);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x7f800000u) {
    stats.max_abs = kGridInfinity;
    return 0;
  }
  if (magnitude < 0x00800000u) return 0;
  const float absolute = std::bit_cast<float>(magnitude);
  if (absolute > stats.max_abs) stats.max_abs = absolute;
  const int64_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  // |g| * 2^e = significand * 2^shift
  const int shift = static_cast<int>(magnitude >> 23) - 150 + exponent;
  if (shift + 23 >= 62) return 0;
  int64_t q = 0;
  if (shift >= 0) {
    q = significand << shift;
  } else if (shift >= -24) {
    const int64_t unit = int64_t{1} << -shift;
    const int64_t rest = significand % unit;
    q = significand / unit;
    if (2 * rest > unit || (2 * rest == unit && q % 2 == 1)) ++q;
  }
  stats.below_grid += q == 0 ? 1 : 0;
  return (bits >> 31) != 0 ? -q : q;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_REFERENCE_H_
