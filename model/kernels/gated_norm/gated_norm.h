// Gated RMSNorm of the Mamba-2 mixer: RMSNorm_group(y * SiLU(z)) * weight.
//
// Gate first, norm after, over groups of a row (the SSM's groups, so that
// tensor parallelism needs no communication). Not the plain norm (rms_norm.h).
// Source: Dao and Gu 2024 (Mamba-2), RMSNormGated with norm_before_gate =
// false.
//
// Orders and roundings (N1, N2, N7, N8, N13). With w = d / groups, SiLU(z) =
// z * Sigmoid(z), one group of one row as y[0..w), z[0..w):
//   m[j]   = y[j] * SiLU(z[j])
//   s      = OrderedSum over j of m[j] * m[j]
//   rstd   = 1 / sqrt(s / w + eps)
//   out[j] = (m[j] * rstd) * weight[j]               rounded once to storage
// fp32 within.
//
// Backward, given dout; m is computed again from y and z:
//   q[j]  = dout[j] * weight[j];   mh[j] = m[j] * rstd
//   mu    = (OrderedSum over j of q[j] * mh[j]) / w
//   dm[j] = rstd * (q[j] - mh[j] * mu)
//   dy[j] = dm[j] * SiLU(z[j])                       rounded once to storage
//   dz[j] = (dm[j] * y[j]) * (sg * (1 + z[j] * (1 - sg))),  sg = Sigmoid(z[j])
//   dweight[leaf][c] = OrderedColumnSum over the leaf's rows of dout * mh
//     (blocks of 32 rows, and block sums, ascending from +0), undivided (N5)

#ifndef MODEL_KERNELS_GATED_NORM_GATED_NORM_H_
#define MODEL_KERNELS_GATED_NORM_GATED_NORM_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct GatedNormForwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  int64_t groups = 1;  // divides d
  double eps = 0;      // rounded once to fp32
  DType dtype{};       // storage of y, z and out: F32, BF16 or F16
  const void* y = nullptr;
  int64_t y_row_stride = 0;  // strides count elements
  const void* z = nullptr;
  int64_t z_row_stride = 0;
  const float* weight = nullptr;  // [d]
  void* out = nullptr;            // overlaps no input
  int64_t out_row_stride = 0;
  float* rstd = nullptr;  // [rows, groups], written
};
void GatedNormForward(Device& device, const GatedNormForwardArgs& args);

struct GatedNormBackwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  int64_t groups = 1;
  int64_t rows_per_leaf = 0;  // divides rows; leaves = rows / rows_per_leaf
  DType dtype{};              // storage of dout, y, z, dy and dz
  const void* dout = nullptr;
  int64_t dout_row_stride = 0;
  const void* y = nullptr;
  int64_t y_row_stride = 0;
  const void* z = nullptr;
  int64_t z_row_stride = 0;
  const float* rstd = nullptr;    // [rows, groups], of the forward pass
  const float* weight = nullptr;  // [d]
  void* dy = nullptr;             // dy and dz overlap no input
  int64_t dy_row_stride = 0;
  void* dz = nullptr;
  int64_t dz_row_stride = 0;
  float* dweight = nullptr;  // [leaves, d], overwritten
};
void GatedNormBackward(Device& device, const GatedNormBackwardArgs& args);

KernelInfo GatedNormInfo();
// The operation on fixed inputs (self_check.h).
std::string GatedNormCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_GATED_NORM_GATED_NORM_H_
