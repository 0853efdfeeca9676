// What the integer grid of N5 needs to know of a tensor: the statistics that a
// pass over its leaves leaves behind, and the exponent that follows from them.
//
// An entry g of a leaf becomes q = RNE(g * 2^e) and is added in int64. Every
// statistic is free of order (a maximum, a count), so threads, micro-batches
// and ranks may merge theirs as they like: that is what keeps N5 independent
// of the layout. No state lives here; e belongs to whoever owns the sums.

#ifndef MODEL_KERNELS_GRID_H_
#define MODEL_KERNELS_GRID_H_

#include <algorithm>
#include <bit>
#include <cstdint>

namespace lockstep {

constexpr float kGridInfinity = __builtin_inff();

// Exponents that a binary32 maximum can ask for lie well within.
constexpr int kMostGridExponent = 512;

// Of the leaf entries seen so far.
struct GridStats {
  // The exact maximum of |g|; infinity once an entry was infinite or NaN.
  float max_abs = 0.0f;
  // Entries with g != 0 and q = 0. Not counted by a probe.
  int64_t below_grid = 0;

  bool non_finite() const { return max_abs == kGridInfinity; }

  void Merge(const GridStats& other) {
    max_abs = std::max(max_abs, other.max_abs);
    below_grid += other.below_grid;
  }
  bool operator==(const GridStats&) const = default;
};

// ceil(log2 x) for a finite x >= 2^-126.
inline int CeilLog2(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return static_cast<int>(bits >> 23) - 127 + ((bits & 0x7fffffu) != 0 ? 1 : 0);
}
// ceil(log2 count) for count >= 1.
inline int CeilLog2(int64_t count) {
  return std::bit_width(static_cast<uint64_t>(count - 1));
}

// e for a step of `leaves` leaves after one whose maximum was max_abs, which is
// finite and not 0: twelve bits of room for growth.
inline int GridExponent(int64_t leaves, float max_abs) {
  return 61 - CeilLog2(leaves) - 12 - CeilLog2(max_abs);
}

// Whether the sum of `leaves` leaves may have left int64, max|g| * 2^e >=
// 2^62 / leaves: the step must be computed once more. Exact. leaves < 2^39.
inline bool GridOverflows(float max_abs, int exponent, int64_t leaves) {
  const uint32_t bits = std::bit_cast<uint32_t>(max_abs);
  if (bits < 0x800000u) return false;
  if (bits >= 0x7f800000u) return true;
  const uint64_t significand = (bits & 0x7fffffu) | 0x800000u;
  const int room = 62 - exponent - (static_cast<int>(bits >> 23) - 127 - 23);
  if (room <= 0) return true;
  return room < 64 &&
         (significand * static_cast<uint64_t>(leaves)) >> room != 0;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_GRID_H_
