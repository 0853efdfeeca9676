// The levels of attention, for attention.cc and its test.
//
// An item is (sample, key/value head), the head fastest: its query heads share
// packed keys and values, and their dk and dv are added in one place.

#ifndef MODEL_KERNELS_ATTENTION_ATTENTION_KERNEL_H_
#define MODEL_KERNELS_ATTENTION_ATTENTION_KERNEL_H_

#include <cstdint>

#include "model/kernels/attention/attention.h"
#include "model/kernels/registry.h"

namespace lockstep {

struct AttentionForwardArgs {
  AttentionShape shape;
  AttentionInputs in;
  void* o;
  int64_t o_row_stride;
  float* lse;
};

struct AttentionBackwardArgs {
  AttentionShape shape;
  AttentionInputs in;
  const void* o;
  int64_t o_row_stride;
  const float* lse;
  const void* d_o;
  int64_t d_o_row_stride;
  AttentionGradients out;
};

LS_DECLARE_KERNEL(AttentionForwardRange, const AttentionForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(AttentionBackwardRange, const AttentionBackwardArgs& args,
                  int64_t begin, int64_t end)

}  // namespace lockstep

#endif  // MODEL_KERNELS_ATTENTION_ATTENTION_KERNEL_H_
