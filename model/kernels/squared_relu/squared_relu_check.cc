#include "model/device.h"
#include "model/kernels/self_check.h"
#include "model/kernels/squared_relu/squared_relu.h"

namespace lockstep {

std::string SquaredReluCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 67, d = 389;
  for (const DType dtype : kCheckTypes) {
    CheckTensor& x = check.Input(dtype, rows, d);
    CheckTensor& dy = check.Input(dtype, rows, d);
    CheckTensor& y = check.Output(dtype, rows, d);
    CheckTensor& dx = check.Output(dtype, rows, d);
    SquaredReluForwardArgs forward;
    forward.rows = rows;
    forward.d = d;
    forward.dtype = dtype;
    forward.x = x.data();
    forward.x_row_stride = x.row_stride();
    forward.y = y.data();
    forward.y_row_stride = y.row_stride();
    SquaredReluForward(device, forward);
    SquaredReluBackwardArgs backward;
    backward.rows = rows;
    backward.d = d;
    backward.dtype = dtype;
    backward.dy = dy.data();
    backward.dy_row_stride = dy.row_stride();
    backward.x = x.data();
    backward.x_row_stride = x.row_stride();
    backward.dx = dx.data();
    backward.dx_row_stride = dx.row_stride();
    SquaredReluBackward(device, backward);
  }
  return check.Digest();
}

}  // namespace lockstep
