// Squared ReLU, elementwise: y = relu(x)^2 (So et al. 2021, Primer).
//
//   r = x < 0 ? +0 : x (so that a NaN stays one);  y = r * r
//   backward: dx = (2 * r) * dy
// fp32 within, rounded once to storage (N13). No sums, so no order (N1).

#ifndef MODEL_KERNELS_SQUARED_RELU_SQUARED_RELU_H_
#define MODEL_KERNELS_SQUARED_RELU_SQUARED_RELU_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct SquaredReluForwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  DType dtype{};  // storage of x and y: F32, BF16 or F16
  const void* x = nullptr;
  int64_t x_row_stride = 0;  // strides count elements
  void* y = nullptr;         // may be x itself
  int64_t y_row_stride = 0;
};
void SquaredReluForward(Device& device, const SquaredReluForwardArgs& args);

struct SquaredReluBackwardArgs {
  int64_t rows = 0;
  int64_t d = 0;
  DType dtype{};  // storage of dy, x and dx
  const void* dy = nullptr;
  int64_t dy_row_stride = 0;
  const void* x = nullptr;  // the forward pass's input
  int64_t x_row_stride = 0;
  void* dx = nullptr;  // may be dy or x itself
  int64_t dx_row_stride = 0;
};
void SquaredReluBackward(Device& device, const SquaredReluBackwardArgs& args);

KernelInfo SquaredReluInfo();
// The operation on fixed inputs (self_check.h).
std::string SquaredReluCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_SQUARED_RELU_SQUARED_RELU_H_
