#include "model/device.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string GatedNormCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 66, d = 390, groups = 3, leaves = 3;
  for (const DType dtype : kCheckTypes) {
    CheckTensor& y = check.Input(dtype, rows, d);
    CheckTensor& z = check.Input(dtype, rows, d);
    CheckTensor& dout = check.Input(dtype, rows, d);
    CheckTensor& out = check.Output(dtype, rows, d);
    GatedNormForwardArgs forward;
    forward.rows = rows;
    forward.d = d;
    forward.groups = groups;
    forward.eps = 1e-5;
    forward.dtype = dtype;
    forward.y = y.data();
    forward.y_row_stride = y.row_stride();
    forward.z = z.data();
    forward.z_row_stride = z.row_stride();
    forward.weight = check.Floats(d);
    forward.out = out.data();
    forward.out_row_stride = out.row_stride();
    forward.rstd = check.OutputFloats(rows * groups);
    GatedNormForward(device, forward);

    CheckTensor& dy = check.Output(dtype, rows, d);
    CheckTensor& dz = check.Output(dtype, rows, d);
    GatedNormBackwardArgs backward;
    backward.rows = rows;
    backward.d = d;
    backward.groups = groups;
    backward.rows_per_leaf = rows / leaves;
    backward.dtype = dtype;
    backward.dout = dout.data();
    backward.dout_row_stride = dout.row_stride();
    backward.y = y.data();
    backward.y_row_stride = y.row_stride();
    backward.z = z.data();
    backward.z_row_stride = z.row_stride();
    backward.rstd = forward.rstd;
    backward.weight = forward.weight;
    backward.dy = dy.data();
    backward.dy_row_stride = dy.row_stride();
    backward.dz = dz.data();
    backward.dz_row_stride = dz.row_stride();
    backward.dweight = check.OutputFloats(leaves * d);
    GatedNormBackward(device, backward);
  }
  return check.Digest();
}

}  // namespace lockstep
