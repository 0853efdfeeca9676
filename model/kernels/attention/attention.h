// Causal grouped-query attention by key blocks, forward and backward.
//
// What it is: softmax(scale Q K^T, causal) V for a micro-batch, without ever
// holding a tokens x tokens matrix. What it is not: the projections; there is
// no positional encoding and no dropout on the probabilities.
// Why so: keys are visited in blocks of a length that the model fixes
// (key_block, part of the recipe and the manifest), ascending, so the running
// maximum and sum have one written order (N7, N13).
//
// Forward, per sample, query head and query row i (scale = 1/sqrt(head_dim) in
// fp32; S = storage dtype, operands of products are in S, results fp32):
//   m = -inf, l = +0, acc = +0
//   for each key block J ascending that has a key j <= i:
//     s_j = scale * (q_i . k_j), j <= i, else -inf        product over head_dim
//     m' = max(m, OrderedMax(s_J)); alpha = exp(m - m')   (0 for the first)
//     p_j = exp(s_j - m'); l = alpha l + OrderedSum(p_J)
//     acc = alpha acc + sum_j round_S(p_j) v_j            product over J
//     m = m'
//   o_i = round_S(acc / l);  lse_i = m + log(l)
// Backward: delta_i = OrderedDot(dO_i, O_i); p_ij = exp(scale s_ij - lse_i);
//   dP_ij = dO_i . v_j;  dS_ij = p_ij (dP_ij - delta_i)
//   dQ_i = scale * sum_J (sum_{j in J} round_S(dS_ij) k_j), blocks ascending
//   dK_j = scale * sum_I (sum_{i in I} round_S(dS_ij) q_i), query blocks of
//   key_block rows ascending; dV_j likewise with round_S(p_ij) dO_i. Query
//   heads of a key/value head are added in ascending order in fp32, from +0,
//   then rounded once. Masked entries contribute +0 in both operands; blocks of
//   32 wholly above the diagonal are skipped (N13).
// Where slices cut the query heads of a key/value head (N4), each slice's sum
// is an output of its own, not rounded; slice_tree.h joins them.
#ifndef LOCKSTEP_MODEL_KERNELS_ATTENTION_ATTENTION_H_
#define LOCKSTEP_MODEL_KERNELS_ATTENTION_ATTENTION_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/registry.h"

namespace lockstep {

// Query head h reads key/value head floor(h * kv_heads / heads).
// key_block is a multiple of 32.
struct AttentionShape {
  int64_t batch, tokens, heads, kv_heads, head_dim, key_block;
};

// Read-only operands; not owned. A row is one token of one sample; inside a
// row q is [heads, head_dim], k and v are [kv_heads, head_dim]. Row strides in
// elements.
struct AttentionInputs {
  DType dtype;  // storage S
  const void* q;
  int64_t q_row_stride;
  const void* k;
  int64_t k_row_stride;
  const void* v;
  int64_t v_row_stride;
  // [batch, tokens] document number of each token (N14), or null: no resets.
  const int32_t* segments = nullptr;
};

// o is [batch * tokens, heads, head_dim] in S; lse is fp32 [batch, heads,
// tokens], kept for backward.
void AttentionForward(Device& device, const AttentionShape& shape,
                      const AttentionInputs& in, void* o, int64_t o_row_stride,
                      float* lse);

// dq, dk and dv in S. With slices > 0, which divide the query heads of a
// key/value head, dk and dv are fp32 [rows, kv_heads, slices, head_dim].
struct AttentionGradients {
  void* dq;
  int64_t dq_row_stride;
  void* dk;
  int64_t dk_row_stride;
  void* dv;
  int64_t dv_row_stride;
  int64_t slices = 0;
};

void AttentionBackward(Device& device, const AttentionShape& shape,
                       const AttentionInputs& in, const void* o,
                       int64_t o_row_stride, const float* lse, const void* d_o,
                       int64_t d_o_row_stride, const AttentionGradients& out);

KernelInfo AttentionInfo();
// The operation on fixed inputs (self_check.h).
std::string AttentionCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_KERNELS_ATTENTION_ATTENTION_H_
