// Causal depthwise convolution of four taps, then SiLU.
//
// Not a general convolution: the Mamba-2 mixer's (Dao and Gu 2024), in which
// weight[c][3] meets the current token and weight[c][0] the one three back.
//
//   pre[t][c] = bias[c] + sum over k = 0..3 of weight[c][k] * x[t - 3 + k][c]
//   y[t][c]   = pre * Sigmoid(pre)                    rounded once to storage
// pre is one FMA chain: it starts at bias[c] and takes k = 0, 1, 2, 3. A tap
// whose token lies before the sample, or in another segment than t (N14), is
// skipped. fp32 within (N13); samples never see each other (N1).
//
// Backward, given dy; pre is computed again:
//   sg   = Sigmoid(pre);  dpre[t] = dy[t] * (sg * (1 + pre * (1 - sg)))
//   dx[s] = FMA chain from +0 over k = 0, 1, 2, 3 of
//     weight[c][k] * dpre[s + 3 - k], skipping tokens past the sample's end or
//     of another segment than s; rounded once to storage.
//   dweight[leaf][c][k] = sum over the leaf's tokens of dpre[t] * x[t - 3 + k]
//     (product rounded, then added; skipped taps add nothing), dbias[leaf][c] =
//     sum of dpre[t]: tokens of the leaf in blocks of 32 (counted from the
//     leaf's first token, across its samples), a chain from +0 inside a block,
//     block sums added ascending from +0 (N7). Undivided (N5).

#ifndef MODEL_KERNELS_CONV1D_SILU_CONV1D_SILU_H_
#define MODEL_KERNELS_CONV1D_SILU_CONV1D_SILU_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

constexpr int64_t kConv1dTaps = 4;

struct Conv1dSiluForwardArgs {
  int64_t batch = 0;
  int64_t tokens = 0;  // per sample
  int64_t channels = 0;
  DType dtype{};                  // storage of x and y: F32, BF16 or F16
  const void* x = nullptr;        // [batch * tokens, channels]
  int64_t x_row_stride = 0;       // strides count elements; a row is a token
  const float* weight = nullptr;  // [channels, 4]
  const float* bias = nullptr;    // [channels]
  void* y = nullptr;              // overlaps no input
  int64_t y_row_stride = 0;
  // [batch * tokens], equal inside a document; null: no resets (N14).
  const int32_t* segments = nullptr;
};
void Conv1dSiluForward(Device& device, const Conv1dSiluForwardArgs& args);

struct Conv1dSiluBackwardArgs {
  int64_t batch = 0;
  int64_t tokens = 0;
  int64_t channels = 0;
  int64_t samples_per_leaf = 1;  // divides batch
  DType dtype{};                 // storage of dy, x and dx
  const void* dy = nullptr;
  int64_t dy_row_stride = 0;
  const void* x = nullptr;
  int64_t x_row_stride = 0;
  const float* weight = nullptr;  // [channels, 4]
  const float* bias = nullptr;    // [channels]
  const int32_t* segments = nullptr;
  void* dx = nullptr;  // overlaps no input
  int64_t dx_row_stride = 0;
  float* dweight = nullptr;  // [leaves, channels, 4], overwritten
  float* dbias = nullptr;    // [leaves, channels], overwritten
};
void Conv1dSiluBackward(Device& device, const Conv1dSiluBackwardArgs& args);

KernelInfo Conv1dSiluInfo();
// The operation on fixed inputs (self_check.h).
std::string Conv1dSiluCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_CONV1D_SILU_CONV1D_SILU_H_
