#include "model/device.h"
#include "model/kernels/rms_norm/rms_norm.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string RmsNormCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 66, d = 390, groups = 3, leaves = 3;
  for (const DType dtype : kCheckTypes) {
    CheckTensor& x = check.Input(dtype, rows, d);
    CheckTensor& dy = check.Input(dtype, rows, d);
    CheckTensor& y = check.Output(dtype, rows, d);
    RmsNormForwardArgs forward;
    forward.rows = rows;
    forward.d = d;
    forward.groups = groups;
    forward.eps = 1e-5;
    forward.dtype = dtype;
    forward.x = x.data();
    forward.x_row_stride = x.row_stride();
    forward.weight = check.Floats(d);
    forward.y = y.data();
    forward.y_row_stride = y.row_stride();
    forward.rstd = check.OutputFloats(rows * groups);
    RmsNormForward(device, forward);

    CheckTensor& dx = check.Output(dtype, rows, d);
    RmsNormBackwardArgs backward;
    backward.rows = rows;
    backward.d = d;
    backward.groups = groups;
    backward.rows_per_leaf = rows / leaves;
    backward.dtype = dtype;
    backward.dy = dy.data();
    backward.dy_row_stride = dy.row_stride();
    backward.x = x.data();
    backward.x_row_stride = x.row_stride();
    backward.rstd = forward.rstd;
    backward.weight = forward.weight;
    backward.dx = dx.data();
    backward.dx_row_stride = dx.row_stride();
    backward.dweight = check.OutputFloats(leaves * d);
    RmsNormBackward(device, backward);
  }
  return check.Digest();
}

}  // namespace lockstep
