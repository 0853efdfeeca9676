// RMSNorm: y = x * (mean(x^2) + eps)^(-1/2) * weight, over groups of a row.
//
// Not the gated norm of the Mamba-2 mixer, which multiplies by SiLU(z) first
// (gated_norm.h). Source: Zhang and Sennrich 2019, eq. 4; eps inside the root.
//
// Orders and roundings (N1, N2, N7, N13). With w = d / groups and one group of
// one row as x[0..w):
//   s    = OrderedSum over j of x[j] * x[j]     (product rounded, then added)
//   rstd = 1 / sqrt(s / w + eps)                (each operation rounds once)
//   y[j] = (x[j] * rstd) * weight[j]            rounded once to storage
// All of it in fp32. rstd is kept for the backward pass.
//
// Backward, given dy:
//   q[j]  = dy[j] * weight[j];   xh[j] = x[j] * rstd
//   mu    = (OrderedSum over j of q[j] * xh[j]) / w
//   dx[j] = rstd * (q[j] - xh[j] * mu)              rounded once to storage
//   dweight[leaf][c] = OrderedColumnSum over the leaf's rows of dy * xh: rows
//     in blocks of 32, a chain from +0 inside a block, block sums added
//     ascending from +0. Not divided by anything (N5).

#ifndef MODEL_KERNELS_RMS_NORM_RMS_NORM_H_
#define MODEL_KERNELS_RMS_NORM_RMS_NORM_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct RmsNormForwardArgs {
  int64_t rows = 0;
  int64_t d = 0;       // row length
  int64_t groups = 1;  // divides d; each group has a mean of its own
  double eps = 0;      // rounded once to fp32
  DType dtype{};       // storage of x and y: F32, BF16 or F16
  const void* x = nullptr;
  int64_t x_row_stride = 0;       // strides count elements
  const float* weight = nullptr;  // [d]
  void* y = nullptr;              // may be x itself
  int64_t y_row_stride = 0;
  float* rstd = nullptr;  // [rows, groups], written
};
void RmsNormForward(Device& device, const RmsNormForwardArgs& args);

struct RmsNormBackwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  int64_t groups = 1;
  int64_t rows_per_leaf = 0;  // divides rows; leaves = rows / rows_per_leaf
  DType dtype{};              // storage of dy, x and dx
  const void* dy = nullptr;
  int64_t dy_row_stride = 0;
  const void* x = nullptr;
  int64_t x_row_stride = 0;
  const float* rstd = nullptr;    // [rows, groups], of the forward pass
  const float* weight = nullptr;  // [d]
  void* dx = nullptr;             // overlaps no input
  int64_t dx_row_stride = 0;
  float* dweight = nullptr;  // [leaves, d], overwritten
};
void RmsNormBackward(Device& device, const RmsNormBackwardArgs& args);

KernelInfo RmsNormInfo();
// The operation on fixed inputs (self_check.h).
std::string RmsNormCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_RMS_NORM_RMS_NORM_H_
