// OrderedColumnSum (N7) over computed elements, for one block of columns.
//
// The gradient of a per-channel weight is a sum down the rows of a leaf: rows
// in blocks of 32, a chain from +0 inside a block, block sums added ascending
// from +0. Work is cut by (leaf, column block), so that every output has one
// owner; the width of a column block decides no order. Not for sums along a row
// (determinism/ordered_sum.h).

#ifndef MODEL_KERNELS_COLUMN_SUM_H_
#define MODEL_KERNELS_COLUMN_SUM_H_

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {

constexpr int64_t kColumnSumRows = 32;  // part of the order
constexpr int64_t kColumnBlock = 128;   // not part of it

constexpr int64_t ColumnBlocks(int64_t columns) {
  return (columns + kColumnBlock - 1) / kColumnBlock;
}

// add_row(r, chain) adds the elements of row r to chain[0..columns), columns <=
// kColumnBlock.
template <class AddRow>
LS_MATH_INLINE void ColumnSumBlock(int64_t rows, int64_t columns,
                                   AddRow add_row, float* out) {
  float total[kColumnBlock] = {};
  for (int64_t first = 0; first < rows; first += kColumnSumRows) {
    const int64_t left = rows - first;
    const int64_t last =
        first + (left < kColumnSumRows ? left : kColumnSumRows);
    float chain[kColumnBlock] = {};
    for (int64_t r = first; r < last; ++r) add_row(r, chain);
    for (int64_t c = 0; c < columns; ++c) total[c] += chain[c];
  }
  for (int64_t c = 0; c < columns; ++c) out[c] = total[c];
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_COLUMN_SUM_H_
