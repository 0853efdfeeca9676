#include "model/device.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string Conv1dSiluCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t batch = 4, tokens = 37, channels = 301, leaves = 2;
  const std::vector<int32_t> segments = CheckSegments(batch, tokens);
  for (const DType dtype : kCheckTypes) {
    CheckTensor& x = check.Input(dtype, batch * tokens, channels);
    CheckTensor& dy = check.Input(dtype, batch * tokens, channels);
    Conv1dSiluForwardArgs forward;
    forward.batch = batch;
    forward.tokens = tokens;
    forward.channels = channels;
    forward.dtype = dtype;
    forward.x = x.data();
    forward.x_row_stride = x.row_stride();
    forward.weight = check.Floats(channels * kConv1dTaps);
    forward.bias = check.Floats(channels);
    forward.segments = dtype == DType::kF16 ? nullptr : segments.data();
    CheckTensor& y = check.Output(dtype, batch * tokens, channels);
    forward.y = y.data();
    forward.y_row_stride = y.row_stride();
    Conv1dSiluForward(device, forward);

    CheckTensor& dx = check.Output(dtype, batch * tokens, channels);
    Conv1dSiluBackwardArgs backward;
    backward.batch = batch;
    backward.tokens = tokens;
    backward.channels = channels;
    backward.samples_per_leaf = batch / leaves;
    backward.dtype = dtype;
    backward.dy = dy.data();
    backward.dy_row_stride = dy.row_stride();
    backward.x = x.data();
    backward.x_row_stride = x.row_stride();
    backward.weight = forward.weight;
    backward.bias = forward.bias;
    backward.segments = forward.segments;
    backward.dx = dx.data();
    backward.dx_row_stride = dx.row_stride();
    backward.dweight = check.OutputFloats(leaves * channels * kConv1dTaps);
    backward.dbias = check.OutputFloats(leaves * channels);
    Conv1dSiluBackward(device, backward);
  }
  return check.Digest();
}

}  // namespace lockstep
