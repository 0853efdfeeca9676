// Cross-entropy of a row of logits and, in the same pass, its gradient.
//
// Per row with mask != 0 (MODEL 2.6), over the true vocabulary only:
//   top   = maximum of l (OrderedMax)
//   total = OrderedSum over j of Exp(l[j] - top)                    (N7, N8);
//     with several slices (N4) the tree over them of each slice's OrderedSum,
//     a slice being vocab_padded / slices columns, those of padding
//     left out
//   loss  = Log(total) - (l[label] - top)
//   dlogits[j] = (Exp(l[j] - top) / total - (j == label ? 1 : 0)) * loss_scale
//     rounded once to storage; columns [vocab, vocab_padded) get +0.
// fp32 within. A row with mask == 0 has loss +0 and dlogits +0, and neither its
// label nor its logits are read.
//
// Unnormalised (N5): division by the token count is grad_finalize.h's. The sum
// of the losses is the caller's, and exact (N6).

#ifndef MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_H_
#define MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct CrossEntropyArgs {
  int64_t rows = 0;
  int64_t vocab = 0;         // true size
  int64_t vocab_padded = 0;  // columns of logits and dlogits, >= vocab
  const float* logits = nullptr;
  int64_t logits_row_stride = 0;    // strides count elements
  const int32_t* labels = nullptr;  // [rows], in [0, vocab) where mask != 0
  const uint8_t* mask = nullptr;    // [rows]
  double loss_scale = 1;            // rounded once to fp32
  float* loss = nullptr;            // [rows], written
  DType dlogits_dtype{};            // F32, BF16 or F16
  void* dlogits = nullptr;  // null: losses only. May be logits itself if F32.
  int64_t dlogits_row_stride = 0;
  int64_t slices = 1;  // a power of two that divides vocab_padded
  // [rows] each, what CrossEntropyGradient (cross_entropy_slices.h) needs to
  // make the gradient again; +0 where masked. Null: not wanted.
  float* top = nullptr;
  float* total = nullptr;
};
void CrossEntropy(Device& device, const CrossEntropyArgs& args);

KernelInfo CrossEntropyInfo();
// The operation on fixed inputs (self_check.h).
std::string CrossEntropyCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_CROSS_ENTROPY_CROSS_ENTROPY_H_
