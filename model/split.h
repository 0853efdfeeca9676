// How tensor parallelism cuts a parameter: which logical rows or columns a rank
// holds.
//
// What it is: the dim that is cut, the parts along it (in_proj has five, z, x,
// B, C, dt), and from a degree and an index the ranges held. A rank holds the
// same share of *each* part, back to back in part order, so what it computes
// with them are whole heads and groups. What it is not: memory or messages.
// Why so: layers, parameter memory, checkpoints and fingerprints ask one place
// what a rank has; a second answer somewhere would load weights that were never
// saved.

#ifndef LOCKSTEP_MODEL_SPLIT_H_
#define LOCKSTEP_MODEL_SPLIT_H_

#include <cstdint>
#include <vector>

#include "determinism/operation.h"

namespace lockstep {

// The share of the tensor axis that a rank has. `slices` counts those of the
// whole axis (N4); each rank holds the same number of consecutive ones.
struct TensorShare {
  int64_t degree = 1;
  int64_t index = 0;
  int64_t slices = 1;

  int64_t held() const { return slices / degree; }
  int64_t first() const { return index * held(); }
  friend bool operator==(const TensorShare&, const TensorShare&) = default;
};

struct TensorSplit {
  int dim = -1;  // -1: not cut, every rank holds all of it
  // Lengths of the parts along dim, in memory order. The vocabulary is one part
  // with its padding.
  std::vector<int64_t> parts = {};
  // A part is this many units that are never cut (key/value heads), or 0: any
  // number. A degree above it makes copies: neighbours hold the same unit.
  int64_t units = 0;
  int64_t length = 0;  // logical length of dim: what lies beyond is padding
};

// Logical positions along a dim.
using HeldRange = DimRange;

// A dim that ranks share: its logical length and the ranges that one of them
// has, back to back in its memory; {0, 0} for none. No ranges: every rank has
// all of it.
struct HeldDim {
  int64_t length = 0;
  std::vector<HeldRange> ranges = {};
};

// Ranks that hold the same ranges: 1, unless the degree exceeds the units.
int64_t CopiesOf(const TensorSplit& split, int64_t degree);

// Whether this rank's copy is the one that counts, saves and is hashed: the
// lowest of those that hold it. Of a tensor that is not cut, rank 0's.
bool OwnsCopy(const TensorSplit& split, int64_t degree, int64_t index);

// What rank `index` of `degree` holds of a cut tensor: one range a part,
// ascending, lying back to back in memory in this order. Padding is left out;
// so is a range that is nothing but padding. That the degree cuts the parts is
// checked where layouts are (tensor_cut.h); here it is a bug if it does not.
std::vector<HeldRange> HeldRanges(const TensorSplit& split, int64_t degree,
                                  int64_t index);

// The same of whatever dim is cut; not shared if none is, or by one rank.
HeldDim HeldOf(const TensorSplit& split, const TensorShare& share);

// Logical positions held, and the length in memory, padding included.
int64_t HeldLength(const TensorSplit& split, int64_t degree, int64_t index);
int64_t HeldMemory(const TensorSplit& split, int64_t degree);

// Where slice `slice` of those that a rank holds lies in its memory along dim:
// one range a part, the slice being the s-th 1/slices of each part (N4),
// padding included.
std::vector<HeldRange> SliceMemory(const TensorSplit& split,
                                   const TensorShare& share, int64_t slice);

// `shape` with the dim that is cut as long as what this rank holds.
std::vector<int64_t> HeldShape(const std::vector<int64_t>& shape,
                               const TensorSplit& split, int64_t degree,
                               int64_t index);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_SPLIT_H_
