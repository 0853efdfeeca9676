#include "ckpt/box.h"

#include <algorithm>
#include <cstring>

#include "determinism/check.h"

namespace lockstep {
namespace {

// Of an element of `box`, counted from the box's first.
size_t IndexIn(const Box& box, const std::vector<int64_t>& at) {
  int64_t index = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    index = index * box.shape[d] + at[d] - box.start[d];
  }
  return static_cast<size_t>(index);
}

}  // namespace

int64_t ElementsOf(const Box& box) {
  int64_t elements = 1;
  for (const int64_t dim : box.shape) elements *= dim;
  return elements;
}

std::optional<Box> Overlap(const Box& a, const Box& b) {
  LS_CHECK_EQ(a.start.size(), b.start.size());
  Box both;
  for (size_t d = 0; d < a.start.size(); ++d) {
    const int64_t begin = std::max(a.start[d], b.start[d]);
    const int64_t end =
        std::min(a.start[d] + a.shape[d], b.start[d] + b.shape[d]);
    if (begin >= end) return std::nullopt;
    both.start.push_back(begin);
    both.shape.push_back(end - begin);
  }
  return both;
}

// Runs along the last dim.
void CopyOverlap(const Box& from_box, const char* from, const Box& to_box,
                 char* to, size_t width) {
  const std::optional<Box> both = Overlap(from_box, to_box);
  LS_CHECK(both.has_value());
  const size_t rank = both->start.size();
  if (rank == 0) {
    std::memcpy(to, from, width);
    return;
  }
  const auto run = static_cast<size_t>(both->shape[rank - 1]) * width;
  std::vector<int64_t> at = both->start;
  while (true) {
    std::memcpy(to + IndexIn(to_box, at) * width,
                from + IndexIn(from_box, at) * width, run);
    size_t d = rank - 1;  // the next run: count up in the dims before the last
    while (d > 0 && ++at[d - 1] == both->start[d - 1] + both->shape[d - 1]) {
      at[d - 1] = both->start[d - 1];
      --d;
    }
    if (d == 0) return;
  }
}

}  // namespace lockstep
