// Cross-entropy over a share of the vocabulary's columns, in three passes
// between which ranks exchange a few numbers a row (N4).
//
//   CrossEntropyTop   top[row] = maximum of l over the columns here that belong
//                     to the vocabulary; -infinity if there are none
//   then the maximum of `top` over ranks
//   CrossEntropySums  logits[j] becomes Exp(l[j] - top); total[row] = tree over
//                     the slices here of OrderedSum over a slice's columns;
//                     target[row] = the label's logit if it is here, else +0
//   then the tree's sums of `total` and of `target` over ranks
//   CrossEntropyFinish  loss = Log(total) - (target - top), and
//     dlogits[j] = (logits[j] / total - (j == label ? 1 : 0)) * loss_scale
//     rounded once to storage, +0 in columns beyond the vocabulary.
//
//   CrossEntropyGradient  the same dlogits once more, of any columns
//     (slices count for nothing), from their logits and the row's top and
//     total; target and loss may be null.
//
// fp32 within. With one slice on one rank these are the bits of
// cross_entropy.h: columns of padding, whose logit counts as -infinity, would
// add +0 to lanes that start from +0, and are skipped. Whether top is +0 or -0
// where both occur shows nowhere. Masked rows have top, total and target +0,
// loss +0 and dlogits +0; neither their labels nor their logits are read.

#ifndef MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_SLICES_H_
#define MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_SLICES_H_

#include <cstdint>

#include "determinism/dtype.h"

namespace lockstep {

class Device;

struct CrossEntropySlicesArgs {
  int64_t rows = 0;
  int64_t vocab = 0;    // true size of the whole vocabulary
  int64_t first = 0;    // token id of the first column here
  int64_t columns = 0;  // here, padding included
  int64_t slices = 0;   // here; a power of two that divides columns
  float* logits = nullptr;
  int64_t logits_row_stride = 0;    // strides count elements
  const int32_t* labels = nullptr;  // [rows], in [0, vocab) where mask != 0
  const uint8_t* mask = nullptr;    // [rows]
  double loss_scale = 1;            // rounded once to fp32
  float* top = nullptr;             // [rows] each
  float* total = nullptr;
  float* target = nullptr;
  float* loss = nullptr;  // [rows], the same on every rank
  DType dlogits_dtype{};  // F32, BF16 or F16
  // [rows, columns]. Null: losses only. May be logits itself if F32.
  void* dlogits = nullptr;
  int64_t dlogits_row_stride = 0;
};
void CrossEntropyTop(Device& device, const CrossEntropySlicesArgs& args);
void CrossEntropySums(Device& device, const CrossEntropySlicesArgs& args);
void CrossEntropyFinish(Device& device, const CrossEntropySlicesArgs& args);
void CrossEntropyGradient(Device& device, const CrossEntropySlicesArgs& args);

}  // namespace lockstep

#endif  // MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_SLICES_H_
