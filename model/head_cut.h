// How much of the logits the head has in memory at once.
//
// What it is: the cut of a leaf's rows into blocks and of the vocabulary into
// chunks, by sizes alone. What it is not: an order: no cut shows in the bits,
// since a row's loss is its own, an input gradient is a row's, and a weight
// gradient a column's (head_leaf.h). Why so: [tokens x vocabulary] would be the
// largest array of a model; whoever plans memory (activation_memory.h) asks the
// same rule.
#ifndef LOCKSTEP_MODEL_HEAD_CUT_H_
#define LOCKSTEP_MODEL_HEAD_CUT_H_

#include <cstdint>

namespace lockstep {

struct HeadRoom {
  // As many rows as the product sums up between two packings of the weight
  // (matmul_cut.h): fewer would pack it more often, more would gain nothing.
  int64_t block_rows = 252;
  // For the gradient of one leaf's logits, until the weight's is made of it.
  int64_t gradient_bytes = int64_t{64} << 20;
};

struct HeadCut {
  int64_t block_rows = 0;  // rows whose logits are there at once
  // Columns whose gradient is there for all of a leaf at once.
  int64_t chunk_columns = 0;
  // Not all columns: each chunk's logits are computed once more.
  bool recomputes = false;
};

// Of `columns` held of the padded vocabulary, a multiple of 128.
HeadCut CutHead(int64_t leaf_rows, int64_t columns, int64_t element_bytes,
                const HeadRoom& room = {});

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_HEAD_CUT_H_
