#include "model/device.h"
#include "model/kernels/residual_dropout/residual_dropout.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string ResidualDropoutCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 66, d = 389;
  const uint64_t samples[] = {3, 4, 9};
  for (const DType dtype : kCheckTypes) {
    CheckTensor& x = check.Input(dtype, rows, d);
    CheckTensor& y = check.Input(dtype, rows, d);
    CheckTensor& out = check.Output(dtype, rows, d);
    CheckTensor& dy = check.Output(dtype, rows, d);
    ResidualDropoutForwardArgs forward;
    forward.rows = rows;
    forward.d = d;
    forward.dtype = dtype;
    forward.x = x.data();
    forward.x_row_stride = x.row_stride();
    forward.y = y.data();
    forward.y_row_stride = y.row_stride();
    forward.out = out.data();
    forward.out_row_stride = out.row_stride();
    forward.dropout.p = dtype == DType::kF32 ? 0 : 0.3;
    forward.dropout.seed = 11;
    forward.dropout.layer = 5;
    forward.dropout.sample_ids = samples;
    forward.dropout.tokens = rows / 3;
    forward.dropout.first_token = dtype == DType::kF16 ? 17 : 0;
    ResidualDropoutForward(device, forward);
    ResidualDropoutBackwardArgs backward;
    backward.rows = rows;
    backward.d = d;
    backward.dtype = dtype;
    backward.dres = y.data();
    backward.dres_row_stride = y.row_stride();
    backward.dy = dy.data();
    backward.dy_row_stride = dy.row_stride();
    backward.dropout = forward.dropout;
    ResidualDropoutBackward(device, backward);
  }
  return check.Digest();
}

}  // namespace lockstep
