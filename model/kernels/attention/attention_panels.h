// What forward and backward of attention share: panel sizes, the documents of
// a sample's tokens, and the scale.
//
// For attention_*_kernel.cc only.

#ifndef MODEL_KERNELS_ATTENTION_ATTENTION_PANELS_H_
#define MODEL_KERNELS_ATTENTION_ATTENTION_PANELS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/kernels/attention/attention.h"
#include "model/kernels/panel.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

template <class S>
struct AttentionSizes {
  explicit AttentionSizes(const AttentionShape& shape)
      : tokens(shape.tokens),
        width(shape.head_dim),
        block(shape.key_block),
        heads_of_kv(shape.heads / shape.kv_heads),
        t_stride(PanelStride(tokens)),
        d_stride(PanelStride(width)),
        s_stride(PanelStride(std::min(block, tokens))),
        d_contraction(Contraction<S>(width)),
        scale(1.0f / std::sqrt(static_cast<float>(width))) {}

  int64_t tokens, width, block, heads_of_kv;
  int64_t t_stride, d_stride;
  int64_t s_stride;  // of a panel of scores, whose columns are one key block
  int64_t d_contraction;
  float scale;
};

// A head's panel [tokens, width] to its columns of the sample's rows.
template <class Out, class S>
static inline void WriteHead(const AttentionSizes<S>& size, const float* panel,
                             int64_t sample, int64_t head, void* target,
                             int64_t row_stride) {
  WritePanel(panel, size.d_stride, size.tokens, size.width,
             static_cast<Out*>(target) + sample * size.tokens * row_stride +
                 head * size.width,
             row_stride);
}

// The document of every token of a sample, behind the end that of the last.
static inline void ReadDocuments(const AttentionShape& shape,
                                 const AttentionInputs& in, int64_t sample,
                                 int64_t padded, int32_t* segments) {
  for (int64_t t = 0; t < padded; ++t) {
    segments[t] = in.segments == nullptr
                      ? 0
                      : in.segments[sample * shape.tokens +
                                    std::min(t, shape.tokens - 1)];
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_ATTENTION_ATTENTION_PANELS_H_
