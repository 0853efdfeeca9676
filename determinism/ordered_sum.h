// Sums with one written order (clause N7): lanes, then a tree.
//
// For every reduction inside a kernel: norms, softmax rows, weight gradients of
// vectors. 64 lanes start from +0; lane l takes elements l, l + 64, ... in
// ascending order; then lane l += lane l + 32, l + 16, ..., l + 1. The 64 lanes
// are four AVX-512 registers, so no level waits for its adder. A short tail
// touches the first lanes only (adding +0 to the others would be the same: from
// +0, no lane can become -0). Not for sums over ranks or samples: N5, N6.

#ifndef DETERMINISM_ORDERED_SUM_H_
#define DETERMINISM_ORDERED_SUM_H_

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {

constexpr int64_t kOrderedLanes = 64;
constexpr int64_t kOrderedRows = 32;

// Lanes filled by step(lane value, element index), then folded by combine.
template <class Step, class Combine>
LS_MATH_INLINE float OrderedFold(int64_t n, float start, Step step,
                                 Combine combine) {
  float lanes[kOrderedLanes];
  for (int64_t l = 0; l < kOrderedLanes; ++l) lanes[l] = start;
  const int64_t whole = n - n % kOrderedLanes;
  for (int64_t i = 0; i < whole; i += kOrderedLanes) {
    for (int64_t l = 0; l < kOrderedLanes; ++l) {
      lanes[l] = step(lanes[l], i + l);
    }
  }
  for (int64_t i = whole; i < n; ++i) {
    lanes[i - whole] = step(lanes[i - whole], i);
  }
  for (int64_t half = kOrderedLanes / 2; half > 0; half /= 2) {
    for (int64_t l = 0; l < half; ++l) {
      lanes[l] = combine(lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

// Sum of element(i) for i in [0, n); +0 for n = 0.
template <class Element>
LS_MATH_INLINE float OrderedSumOf(int64_t n, Element element) {
  return OrderedFold(
      n, 0.0f, [&](float lane, int64_t i) { return lane + element(i); },
      [](float a, float b) { return a + b; });
}

LS_MATH_INLINE float OrderedSum(const float* x, int64_t n) {
  return OrderedSumOf(n, [x](int64_t i) { return x[i]; });
}

// Each lane is a chain of fused multiply-adds, lane = fma(left(i), right(i),
// lane): the product is not rounded.
template <class Left, class Right>
LS_MATH_INLINE float OrderedDotOf(int64_t n, Left left, Right right) {
  return OrderedFold(
      n, 0.0f,
      [&](float lane, int64_t i) {
        return __builtin_fmaf(left(i), right(i), lane);
      },
      [](float a, float b) { return a + b; });
}

LS_MATH_INLINE float OrderedDot(const float* a, const float* b, int64_t n) {
  return OrderedDotOf(
      n, [a](int64_t i) { return a[i]; }, [b](int64_t i) { return b[i]; });
}

LS_MATH_INLINE float OrderedSumOfSquares(const float* x, int64_t n) {
  return OrderedDot(x, x, n);
}

// The larger; a NaN on either side stays, and of +0 and -0 the first.
LS_MATH_INLINE float OrderedMaxStep(float so_far, float x) {
  return x > so_far || x != x ? x : so_far;
}

// Maximum of element(i), -infinity for n = 0, NaN if any is.
template <class Element>
LS_MATH_INLINE float OrderedMaxOf(int64_t n, Element element) {
  return OrderedFold(
      n, -__builtin_inff(),
      [&](float lane, int64_t i) { return OrderedMaxStep(lane, element(i)); },
      [](float a, float b) { return OrderedMaxStep(a, b); });
}

LS_MATH_INLINE float OrderedMax(const float* x, int64_t n) {
  return OrderedMaxOf(n, [x](int64_t i) { return x[i]; });
}

// out[c] = sum over rows of element(r, c), for c in [begin, end): rows in
// blocks of 32, a chain ascending from +0 inside a block, block sums added
// ascending to +0. Columns are independent, so a caller may cut them as it
// likes.
template <class Element>
LS_MATH_INLINE void OrderedColumnSumOf(int64_t rows, int64_t begin, int64_t end,
                                       Element element, float* out) {
  constexpr int64_t kColumns = 64;
  for (int64_t first = begin; first < end; first += kColumns) {
    const int64_t width = end - first < kColumns ? end - first : kColumns;
    float total[kColumns] = {};
    for (int64_t row = 0; row < rows; row += kOrderedRows) {
      const int64_t stop =
          row + kOrderedRows < rows ? row + kOrderedRows : rows;
      float block[kColumns] = {};
      for (int64_t r = row; r < stop; ++r) {
        for (int64_t c = 0; c < width; ++c) block[c] += element(r, first + c);
      }
      for (int64_t c = 0; c < width; ++c) total[c] += block[c];
    }
    for (int64_t c = 0; c < width; ++c) out[first + c] = total[c];
  }
}

// The same over an array [rows, cols] whose rows lie row_stride elements apart.
LS_MATH_INLINE void OrderedColumnSum(const float* x, int64_t rows, int64_t cols,
                                     int64_t row_stride, float* out) {
  OrderedColumnSumOf(
      rows, 0, cols,
      [x, row_stride](int64_t r, int64_t c) { return x[r * row_stride + c]; },
      out);
}

}  // namespace lockstep

#endif  // DETERMINISM_ORDERED_SUM_H_
