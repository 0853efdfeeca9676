// The residual add, with dropout on the mixer's output: out = x + drop(y).
//
//   p == 0:  out = x + y; no random number is drawn
//   p > 0:   out = x + (keep ? y * scale : +0),  scale = fp32(1 / (1 - p))
//   backward: dy = keep ? dres * scale : +0 (p == 0: the bytes of dres). The
//     gradient of x is dres itself, which the caller keeps.
// fp32 within, rounded once to storage after the add (N13).
//
// keep iff u32 >= floor(p * 2^32), u32 drawn by Philox at the logical position
// of N9: stream kHiddenDropout, `layer`, item = global sample index, element
// t * d + j of the unsharded sample, also where the rows are a slice of its
// tokens. Recomputation and the backward pass draw the same numbers again, and
// no micro-batch, thread or rank can change them.

#ifndef MODEL_KERNELS_RESIDUAL_DROPOUT_RESIDUAL_DROPOUT_H_
#define MODEL_KERNELS_RESIDUAL_DROPOUT_RESIDUAL_DROPOUT_H_

#include <cstdint>
#include <span>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

// Where the rows lie: row r is token first_token + r % tokens of sample
// sample_ids[r / tokens]. An index each, since a run may pass over samples.
struct DropoutPosition {
  double p = 0;  // of being dropped, in [0, 1)
  uint64_t seed = 0;
  uint16_t layer = 0;
  std::span<const uint64_t> sample_ids = {};  // global indices; not owned
  int64_t tokens = 0;                         // rows per sample
  int64_t first_token = 0;  // of each sample: a token slice begins later
};

struct ResidualDropoutForwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  DType dtype{};  // storage of x, y and out: F32, BF16 or F16
  const void* x = nullptr;
  int64_t x_row_stride = 0;  // strides count elements
  const void* y = nullptr;   // the mixer's output
  int64_t y_row_stride = 0;
  void* out = nullptr;  // may be x or y itself
  int64_t out_row_stride = 0;
  DropoutPosition dropout;
};
void ResidualDropoutForward(Device& device,
                            const ResidualDropoutForwardArgs& args);

struct ResidualDropoutBackwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  DType dtype{};  // storage of dres and dy
  const void* dres = nullptr;
  int64_t dres_row_stride = 0;
  void* dy = nullptr;  // may be dres itself
  int64_t dy_row_stride = 0;
  DropoutPosition dropout;
};
void ResidualDropoutBackward(Device& device,
                             const ResidualDropoutBackwardArgs& args);

KernelInfo ResidualDropoutInfo();
// The operation on fixed inputs (self_check.h).
std::string ResidualDropoutCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_RESIDUAL_DROPOUT_RESIDUAL_DROPOUT_H_
