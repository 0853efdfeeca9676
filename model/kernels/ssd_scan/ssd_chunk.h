// What forward and backward of the scan share: where a chunk lies, its decay
// factors, the mask of lambda, and the causal products.
//
// For ssd_scan_*_kernel.cc only.

#ifndef MODEL_KERNELS_SSD_SCAN_SSD_CHUNK_H_
#define MODEL_KERNELS_SSD_SCAN_SSD_CHUNK_H_

#include <algorithm>
#include <cstdint>

#include "determinism/math.h"
#include "model/kernels/block_product.h"
#include "model/kernels/panel.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Panel strides and loop lengths of one scan.
template <class S>
struct SsdSizes {
  explicit SsdSizes(const SsdShape& shape)
      : heads_of_group(shape.heads / shape.groups),
        p(shape.head_dim),
        n(shape.state),
        q_stride(RoundUp(shape.chunk, kBlock)),
        p_stride(RoundUp(p, kBlock)),
        n_stride(RoundUp(n, kBlock)),
        p_contraction(Contraction<S>(p)),
        n_contraction(Contraction<S>(n)) {}

  int64_t heads_of_group;
  int64_t p, n;
  int64_t q_stride, p_stride, n_stride;
  int64_t p_contraction, n_contraction;
};

// Tokens [first, first + q) of a sample; `padded` is q rounded up to 32.
struct Chunk {
  Chunk(const SsdShape& shape, int64_t index)
      : first(index * shape.chunk),
        q(std::min(shape.chunk, shape.tokens - first)),
        padded(RoundUp(q, kBlock)) {}

  int64_t first;
  int64_t q;
  int64_t padded;
};

// The document of every token of a chunk, and of the state carried into it;
// all equal without resets. Tokens behind q repeat the last one.
static inline int32_t ReadSegments(const SsdShape& shape, const SsdInputs& in,
                                   int64_t sample, const Chunk& chunk,
                                   int32_t* segments) {
  if (in.segments == nullptr) {
    std::fill(segments, segments + chunk.padded, 0);
    return 0;
  }
  const int32_t* from = in.segments + sample * shape.tokens + chunk.first;
  for (int64_t i = 0; i < chunk.padded; ++i) {
    segments[i] = from[std::min(i, chunk.q - 1)];
  }
  return chunk.first == 0 ? from[0] : from[-1];
}

// The arguments of both exponentials are masked, so nothing can overflow.
struct Decay {
  float* to_end;      // w_j, +0 where the chunk ends in another document
  float* from_start;  // exp(cs_i), +0 where the carried state is another's
  float carry;        // exp(cs_Q), likewise
};

static inline void ComputeDecay(const Chunk& chunk, const float* cumsum,
                                const int32_t* segments, int32_t carried,
                                Decay& decay) {
  const float last = cumsum[chunk.q - 1];
  const int32_t last_segment = segments[chunk.q - 1];
  LS_IVDEP
  for (int64_t i = 0; i < chunk.q; ++i) {
    const float difference = last - cumsum[i];
    const float to_end = math::Exp(difference > 0.0f ? 0.0f : difference);
    decay.to_end[i] = segments[i] == last_segment ? to_end : 0.0f;
    const float from_start = math::Exp(cumsum[i]);
    decay.from_start[i] = segments[i] == carried ? from_start : 0.0f;
  }
  decay.carry = last_segment == carried ? math::Exp(last) : 0.0f;
}

// exp(min(cs_i - cs_j, 0)), for any i and j; the caller masks.
LS_MATH_INLINE float Lambda(float cs_i, float cs_j) {
  const float difference = cs_i - cs_j;
  return math::Exp(difference > 0.0f ? 0.0f : difference);
}

// Columns of row i that lie in a block of 32 on or below the diagonal.
LS_MATH_INLINE int64_t CausalEnd(int64_t i) { return RoundUp(i + 1, kBlock); }

// scores[i, j] = a_i . b_j for all blocks of 32 on or below the diagonal.
template <bool kAmx32>
static void CausalScores(const Chunk& chunk, int64_t k, LeftPanel a,
                         RightPanel b_transposed, OutputPanel scores) {
  for (int64_t i = 0; i < chunk.q; i += kBlock) {
    BlockProduct<kAmx32>(std::min(kBlock, chunk.q - i), i + kBlock, k,
                         {a.data + i * a.row, a.row, a.col}, b_transposed,
                         {scores.data + i * scores.stride, scores.stride});
  }
}

// out_i = sum over j of l_ij b_j: blocks of j above the diagonal are skipped.
template <class S>
static void CausalProduct(const Chunk& chunk, int64_t n, const float* l,
                          int64_t l_stride, RightPanel b, OutputPanel out) {
  const int64_t k = Contraction<S>(chunk.q);
  for (int64_t i = 0; i < chunk.q; i += kBlock) {
    BlockProduct<IsAmx32<S>()>(std::min(kBlock, chunk.q - i), n,
                               std::min(i + kBlock, k),
                               {l + i * l_stride, l_stride, 1}, b,
                               {out.data + i * out.stride, out.stride});
  }
}

// out_j = sum over i of l_ij b_i: blocks of i above the diagonal are skipped.
template <class S>
static void CausalTransposedProduct(const Chunk& chunk, int64_t n,
                                    const float* l, int64_t l_stride,
                                    RightPanel b, OutputPanel out) {
  const int64_t k = Contraction<S>(chunk.q);
  for (int64_t j = 0; j < chunk.q; j += kBlock) {
    BlockProduct<IsAmx32<S>()>(std::min(kBlock, chunk.q - j), n, k - j,
                               {l + j * l_stride + j, 1, l_stride},
                               {b.data + j * b.stride, b.stride},
                               {out.data + j * out.stride, out.stride});
  }
}

// A product of every token with a state; +0 where the state is zero by
// definition (before the first chunk, and the gradient behind the last).
template <class S>
static void StateProduct(bool zero_state, const Chunk& chunk, int64_t n,
                         int64_t k, LeftPanel a, RightPanel b,
                         OutputPanel out) {
  if (zero_state) {
    std::fill(out.data, out.data + chunk.q * out.stride, 0.0f);
  } else {
    BlockProduct<IsAmx32<S>()>(chunk.q, n, k, a, b, out);
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_SSD_SCAN_SSD_CHUNK_H_
