// The chunked state-space scan of Mamba-2 (SSD), forward and backward.
//
// What it is: y = scan(x, dt, A, B, C) + D x for a micro-batch, with the step
// size dt = softplus(dt_raw + dt_bias) inside, so that one contract fixes
// every rounding point between the convolution and the gated norm.
// What it is not: the projections, the convolution, the gate or the norm.
// Why so: the order of a scan is decided by its chunk length, which is part of
// the model (never a tuning choice), and by the matrix-product order N3.
//
// Equations (Dao and Gu, "Transformers are SSMs", 2024, section 6; a = A dt,
// A = -exp(a_log), cs = inclusive cumulative sum of a inside a chunk, an
// ascending chain from +0; u_j = dt_j x_j; w_j = exp(min(cs_Q - cs_j, 0));
// lambda_ij = exp(min(cs_i - cs_j, 0)) for j <= i, else exactly 0):
//   K_ij  = C_i . B_j                                  product, fp32
//   S_c   = sum_j (w_j u_j) B_j^T                      product, fp32
//   H_0   = 0;  H_{c+1} = exp(cs_Q) H_c + S_c          fp32
//   y_i   = ((sum_j (lambda_ij K_ij) u_j) + exp(cs_i) (C_i . H_c)) + D x_i
// Backward, g = dy, G_c = dL/dH_c (fp32), W_ij = g_i . u_j:
//   G_c   = exp(cs_Q) G_{c+1} + sum_i (exp(cs_i) g_i) C_i^T
//   du_j  = sum_{i>=j} (lambda_ij K_ij) g_i + w_j (G_{c+1} B_j)
//   dC_i  = sum_{j<=i} (lambda_ij W_ij) B_j + exp(cs_i) (H_c^T g_i)
//   dB_j  = sum_{i>=j} (lambda_ij W_ij) C_i + w_j (G_{c+1}^T u_j)
//   da_k  = sum_{i>=k>j} lambda_ij K_ij W_ij + sum_{i>=k} exp(cs_i) g_i.H_c C_i
//         + sum_{j<k} w_j u_j.G_{c+1} B_j + exp(cs_Q) <G_{c+1}, H_c>
//   dx = D g + dt du;  ddt = x . du + A da;  ddt_raw = ddt * (v > 20 ? 1 :
//   sigmoid(v)), v = dt_raw + dt_bias;  da_log = A sum_t dt_t da_t;
//   dD = sum_t g.x;  ddt_bias = sum_t ddt_raw.
// The terms of da_k are disjoint; the shorter form by a reverse cumulative sum
// of y.g is unstable and forbidden.
//
// Rounding points (N13). Storage S is F32, BF16 or F16. Operands of every
// product are rounded to S: B, C, u, lambda K, w u, H_c, G_c, exp(cs_i) g_i,
// lambda W. With S = F32 nothing is rounded and products are one FMA chain.
// All else is fp32; y, dx, db, dc, ddt_raw are rounded once, on the store.
// db and dc add the heads of a group in ascending order in fp32 first (N4).
//
// Written in full, since it shows in bits (N1, N3, N7):
//   u = dt x and w u = w (dt x) are rounded multiplications in fp32, and each
//   is rounded to S as an operand; w_j (G B_j), exp(cs_i) (C_i . H_c), du and
//   the like are one multiplication and one addition, brackets as above.
//   Causal products run over blocks of 32 tokens, counted from the chunk's
//   first. Blocks wholly above the diagonal are skipped, in fp32 too; in a
//   block on the diagonal a masked lambda K or lambda W is +0 and the other
//   operand keeps its value. A product with H_0, or with the gradient behind
//   the last chunk, is +0.
//   g.x, x.du, u.(G B) (u not rounded to S), C.(H^T g) and <G, H> (G and H not
//   rounded) are OrderedDot over head_dim, state, or [head_dim, state].
//   da_k = ((M_k + later_k) + earlier_k) + exp(cs_Q) <G, H>, where M_k is
//   OrderedSum over j < k of the chain over i = Q-1 .. k of (lambda_ij K_ij)
//   W_ij from +0; later_k is the chain over i = Q-1 .. k of exp(cs_i) C_i.(H^T
//   g_i); earlier_k the chain over j = 0 .. k-1 of w_j u_j.(G B_j).
//   db_j = chain over heads from +0 of (sum + w_j (G^T u_j)); dc likewise.
//   da_log = A (sum of dt da).
// Documents (N14): lambda_ij is +0 across unequal segments; so are w_j where
// j's is not the chunk's last token's, and exp(cs_i), exp(cs_Q) where theirs is
// not that of the token before the chunk.
// A step so large that cs overflows gives NaN, not a wrong number.
#ifndef LOCKSTEP_MODEL_KERNELS_SSD_SCAN_SSD_SCAN_H_
#define LOCKSTEP_MODEL_KERNELS_SSD_SCAN_SSD_SCAN_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/registry.h"

namespace lockstep {

// Head h belongs to group floor(h * groups / heads). Tokens need not be a
// multiple of chunk: the tail behaves as if padded with dt = 0.
struct SsdShape {
  int64_t batch, tokens, heads, head_dim, groups, state, chunk;
  int64_t chunks() const { return (tokens + chunk - 1) / chunk; }
};

// Read-only operands; not owned. Row strides are in elements, a row is one
// token of one sample (row index b * tokens + t); inside a row the layout is
// x [heads, head_dim], b and c [groups, state], dt_raw [heads].
struct SsdInputs {
  DType dtype;  // storage S of x, b, c, dt_raw
  const void* x;
  int64_t x_row_stride;
  const void* b;
  int64_t b_row_stride;
  const void* c;
  int64_t c_row_stride;
  const void* dt_raw;
  int64_t dt_row_stride;
  const float* dt_bias;  // [heads]
  const float* a_log;    // [heads]
  const float* d;        // [heads]
  // [batch, tokens] document number of each token (N14), or null: no resets.
  const int32_t* segments = nullptr;
};

// What forward keeps for backward; written by forward, read by backward.
struct SsdSaved {
  float* dt;      // [batch, heads, tokens]
  float* cumsum;  // [batch, heads, tokens], cs above
  float* states;  // [batch, heads, chunks, head_dim, state], H_c
};

void SsdForward(Device& device, const SsdShape& shape, const SsdInputs& in,
                const SsdSaved& saved, void* y, int64_t y_row_stride);

// Outputs of backward. The first four have storage S and row strides like
// their inputs. The fp32 vectors hold one row a leaf, [leaves, heads], leaf =
// samples_per_leaf consecutive samples, unnormalised (N5); tokens of a leaf are
// added by OrderedColumnSum's order (N7).
struct SsdGradients {
  void* dx;
  int64_t dx_row_stride;
  void* db;
  int64_t db_row_stride;
  void* dc;
  int64_t dc_row_stride;
  void* ddt_raw;
  int64_t ddt_row_stride;
  float* ddt_bias;
  float* da_log;
  float* dd;
  int64_t samples_per_leaf = 1;
};

void SsdBackward(Device& device, const SsdShape& shape, const SsdInputs& in,
                 const SsdSaved& saved, const void* dy, int64_t dy_row_stride,
                 const SsdGradients& out);

KernelInfo SsdScanInfo();
// The operation on fixed inputs (self_check.h).
std::string SsdScanCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_KERNELS_SSD_SCAN_SSD_SCAN_H_
