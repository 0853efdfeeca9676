// What a group's heads share in one chunk: B, C, their causal products K and
// the documents. For ssd_scan_*_kernel.cc only.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_GROUP_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_GROUP_H_

#include <cstdint>
#include <vector>

#include "model/kernels/panel.h"
#include "model/kernels/ssd_scan/ssd_chunk.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Part [q, columns] of a matrix of activations that belongs to one head or
// group, from the chunk's first token on.
template <class S>
LS_MATH_INLINE const S* PartOf(const void* data, int64_t row_stride,
                               const SsdShape& shape, int64_t sample,
                               const Chunk& chunk, int64_t column) {
  return static_cast<const S*>(data) +
         (sample * shape.tokens + chunk.first) * row_stride + column;
}
template <class S>
LS_MATH_INLINE S* PartOf(void* data, int64_t row_stride, const SsdShape& shape,
                         int64_t sample, const Chunk& chunk, int64_t column) {
  return static_cast<S*>(data) +
         (sample * shape.tokens + chunk.first) * row_stride + column;
}

template <class S>
struct GroupPanels {
  GroupPanels(const SsdSizes<S>& size, PanelMemory& memory)
      : b(memory.Take(size.q_stride * size.n_stride)),
        b_transposed(memory.Take(size.n_stride * size.q_stride)),
        c(memory.Take(size.q_stride * size.n_stride)),
        scores(memory.Take(size.q_stride * size.q_stride)),
        segments(size.q_stride) {}

  static int64_t Floats(const SsdSizes<S>& size) {
    return size.q_stride * (3 * size.n_stride + size.q_stride);
  }

  void Read(const SsdShape& shape, const SsdInputs& in, const SsdSizes<S>& size,
            int64_t sample, int64_t group, const Chunk& chunk) {
    const int64_t ns = size.n_stride;
    ReadPanel(
        PartOf<S>(in.b, in.b_row_stride, shape, sample, chunk, group * size.n),
        in.b_row_stride, chunk.q, chunk.padded, size.n, b, ns);
    ReadPanel(
        PartOf<S>(in.c, in.c_row_stride, shape, sample, chunk, group * size.n),
        in.c_row_stride, chunk.q, chunk.padded, size.n, c, ns);
    TransposePanel(b, ns, chunk.padded, size.n, b_transposed, size.q_stride);
    CausalScores<IsAmx32<S>()>(chunk, size.n_contraction, {c, ns, 1},
                               {b_transposed, size.q_stride},
                               {scores, size.q_stride});
    carried_segment = ReadSegments(shape, in, sample, chunk, segments.data());
  }

  float *b, *b_transposed, *c;    // [q, n], [n, q], [q, n]
  float* scores;                  // K [q, q], blocks on or below the diagonal
  std::vector<int32_t> segments;  // [q]
  int32_t carried_segment = 0;    // of the token before the chunk
};

// Where a head's saved values of a chunk lie.
template <class T>
LS_MATH_INLINE T* TokensOf(T* data, const SsdShape& shape, int64_t sample,
                           int64_t head, const Chunk& chunk) {
  return data + (sample * shape.heads + head) * shape.tokens + chunk.first;
}
LS_MATH_INLINE float* StateOf(const SsdSaved& saved, const SsdShape& shape,
                              int64_t sample, int64_t head, int64_t index) {
  return saved.states +
         ((sample * shape.heads + head) * shape.chunks() + index) *
             shape.head_dim * shape.state;
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_GROUP_H_
