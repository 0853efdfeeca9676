// What the head does to some rows: logits, losses, the logits' gradient.
//
// What it is: the projection to the columns of the vocabulary that a rank has,
// and cross-entropy over all columns of all ranks, of which a rank needs three
// numbers a row (N4). What it is not: a kernel (kernels/cross_entropy/), or the
// choice of rows and columns (head_leaf.h). Why so: which of the kernels runs
// is the layout's affair and nobody else's.
#ifndef LOCKSTEP_MODEL_HEAD_ROWS_H_
#define LOCKSTEP_MODEL_HEAD_ROWS_H_

#include <cstdint>

#include "model/head_cut.h"
#include "model/linear.h"
#include "model/split.h"
#include "model/step_context.h"

namespace lockstep {

// labels and mask are [samples, tokens]; mask 0 takes a token out.
struct LossTargets {
  const int32_t* labels;
  const uint8_t* mask;

  LossTargets From(int64_t row) const { return {labels + row, mask + row}; }
};

// The head's weight on a rank.
struct HeadWeight {
  LinearWeight linear;  // `out`: columns held, with their padding
  TensorShare share;
  int64_t vocab;       // of the whole model
  int64_t vocab_held;  // columns held that belong to it
  HeadRoom room;

  int64_t columns() const { return linear.out; }
  int64_t first_id() const { return share.index * linear.out; }
};

// What a row's gradient needs beside its logits; null: not kept.
struct RowSums {
  float* top = nullptr;
  float* total = nullptr;

  RowSums From(int64_t row) const {
    return top == nullptr ? RowSums{} : RowSums{top + row, total + row};
  }
};

// Of the columns held, and how far apart their rows lie.
struct HeadColumns {
  int64_t first;
  int64_t count;
  int64_t row_stride;
};
// fp32 logits of those columns; h is [rows, hidden]. Nobody hears of it.
void HeadProduct(const StepContext& context, const HeadWeight& head,
                 const void* h, int64_t rows, const HeadColumns& columns,
                 float* logits);
// Of all that belong to the vocabulary; those of padding are unset.
void HeadLogits(const StepContext& context, const HeadWeight& head,
                const void* h, int64_t rows, float* logits);

// Whole rows of what the rank holds, contiguous.
struct LossRows {
  int64_t rows;
  LossTargets targets;
  float* logits;  // used up
  float* loss;    // written, zero where masked, the same on every rank
  RowSums sums;   // written
  void* dlogits;  // in the weight's dtype; null: losses only
};
void HeadLoss(const StepContext& context, const HeadWeight& head,
              const LossRows& rows);

// Some columns of them.
struct ChunkRows {
  int64_t rows;
  HeadColumns columns;
  LossTargets targets;
  RowSums sums;
  float* logits;  // used up
  void* dlogits;  // written: the bits that HeadLoss gave these columns
};
void HeadLossGradient(const StepContext& context, const HeadWeight& head,
                      const ChunkRows& chunk);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_HEAD_ROWS_H_
