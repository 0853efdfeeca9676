#include "model/split.h"

#include <algorithm>

#include "determinism/check.h"

namespace lockstep {

int64_t CopiesOf(const TensorSplit& split, int64_t degree) {
  if (split.dim < 0 || split.units == 0 || degree <= split.units) return 1;
  LS_CHECK_EQ(degree % split.units, 0) << "units " << split.units;
  return degree / split.units;
}

bool OwnsCopy(const TensorSplit& split, int64_t degree, int64_t index) {
  return index % (split.dim < 0 ? degree : CopiesOf(split, degree)) == 0;
}

std::vector<HeldRange> HeldRanges(const TensorSplit& split, int64_t degree,
                                  int64_t index) {
  LS_CHECK(split.dim >= 0) << "a tensor that is not cut has no ranges";
  LS_CHECK(index >= 0 && index < degree) << index << " of " << degree;
  const int64_t copies = CopiesOf(split, degree);
  const int64_t shares = degree / copies;
  std::vector<HeldRange> ranges;
  int64_t start = 0;
  for (const int64_t part : split.parts) {
    LS_CHECK_EQ(part % shares, 0) << "a part of " << part;
    const int64_t size = part / shares;
    const int64_t begin = start + index / copies * size;
    const HeldRange held = {std::min(begin, split.length),
                            std::min(begin + size, split.length)};
    if (held.begin < held.end) ranges.push_back(held);
    start += part;
  }
  return ranges;
}

HeldDim HeldOf(const TensorSplit& split, const TensorShare& share) {
  if (split.dim < 0 || share.degree == 1) return {};
  HeldDim held = {split.length, HeldRanges(split, share.degree, share.index)};
  if (held.ranges.empty()) held.ranges.push_back({0, 0});
  return held;
}

int64_t HeldLength(const TensorSplit& split, int64_t degree, int64_t index) {
  int64_t length = 0;
  for (const HeldRange& range : HeldRanges(split, degree, index)) {
    length += range.end - range.begin;
  }
  return length;
}

int64_t HeldMemory(const TensorSplit& split, int64_t degree) {
  int64_t length = 0;
  for (const int64_t part : split.parts) length += part;
  return length / (degree / CopiesOf(split, degree));
}

std::vector<HeldRange> SliceMemory(const TensorSplit& split,
                                   const TensorShare& share, int64_t slice) {
  const int64_t copies = CopiesOf(split, share.degree);
  const int64_t shares = share.degree / copies;
  std::vector<HeldRange> ranges;
  int64_t start = 0;  // of the part, in this rank's memory
  for (const int64_t part : split.parts) {
    LS_CHECK_EQ(part % share.slices, 0) << "slices of a part of " << part;
    const int64_t size = part / share.slices;
    const int64_t held = share.index / copies * (part / shares);
    const int64_t begin = start + (share.first() + slice) * size - held;
    ranges.push_back({begin, begin + size});
    start += part / shares;
  }
  return ranges;
}

std::vector<int64_t> HeldShape(const std::vector<int64_t>& shape,
                               const TensorSplit& split, int64_t degree,
                               int64_t index) {
  std::vector<int64_t> held = shape;
  if (split.dim >= 0) {
    held[static_cast<size_t>(split.dim)] = HeldLength(split, degree, index);
  }
  return held;
}

}  // namespace lockstep
