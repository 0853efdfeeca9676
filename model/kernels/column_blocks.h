// How work on columns is cut between threads: blocks of 128 channels.
//
// The gradient of a per-channel weight is a sum down the rows of a leaf
// (OrderedColumnSum, N7). Its columns are independent, so work is cut by (leaf,
// column block), every output has one owner, and this width decides no order.

#ifndef MODEL_KERNELS_COLUMN_BLOCKS_H_
#define MODEL_KERNELS_COLUMN_BLOCKS_H_

#include <cstdint>

namespace lockstep {

constexpr int64_t kColumnBlock = 128;

constexpr int64_t ColumnBlocks(int64_t columns) {
  return (columns + kColumnBlock - 1) / kColumnBlock;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_COLUMN_BLOCKS_H_
