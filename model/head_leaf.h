// One leaf of the head: logits, losses and their gradients, of so many rows and
// columns at once as there is room for.
//
// What it is: the projection to the vocabulary fused with its cross-entropy.
// Block by block of rows come logits, losses and the logits' gradient, then the
// input's gradient and, over all rows of the leaf, the weight's. Gradients are
// of unnormalised sums, so nothing waits for a count of tokens (N5). Where the
// gradient of all the leaf's logits is too much to keep until then, the input's
// comes block by block too, and for the weight's the logits' is made a second
// time, chunk by chunk of the vocabulary, from logits that are computed again;
// hooks hear the same. What it is not: the final norm, or a loop over leaves
// (head.h). Why so: the largest array of a model is never there as a whole, and
// no sum changes its order: the input's gradient is summed over the whole
// vocabulary at once, in the slices of N4, and the weight's over the whole
// leaf.
#ifndef LOCKSTEP_MODEL_HEAD_LEAF_H_
#define LOCKSTEP_MODEL_HEAD_LEAF_H_

#include <cstdint>

#include "model/head_rows.h"
#include "model/step_context.h"

namespace lockstep {

struct HeadLeaf {
  const void* h;  // [rows, hidden], of all tokens
  LossTargets targets;
  float* loss;  // [rows], written
  void* dh;     // [stream rows, hidden], written; null: losses only
};

// Adds the leaf to the weight's gradient if there is a dh.
void RunHeadLeaf(const StepContext& context, const HeadWeight& head,
                 const HeadLeaf& leaf);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_HEAD_LEAF_H_
