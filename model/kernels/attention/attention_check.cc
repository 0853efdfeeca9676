#include <algorithm>

#include "model/device.h"
#include "model/kernels/attention/attention.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string AttentionCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const AttentionShape s = {.batch = 2,
                            .tokens = 75,
                            .heads = 6,
                            .kv_heads = 2,
                            .head_dim = 20,
                            .key_block = 32};
  const int64_t rows = s.batch * s.tokens;
  const std::vector<int32_t> segments = CheckSegments(s.batch, s.tokens);
  for (const DType dtype : kCheckTypes) {
    CheckTensor& q = check.Input(dtype, rows, s.heads * s.head_dim);
    CheckTensor& k = check.Input(dtype, rows, s.kv_heads * s.head_dim);
    CheckTensor& v = check.Input(dtype, rows, s.kv_heads * s.head_dim);
    CheckTensor& d_o = check.Input(dtype, rows, s.heads * s.head_dim);
    const AttentionInputs in = {
        .dtype = dtype,
        .q = q.data(),
        .q_row_stride = q.row_stride(),
        .k = k.data(),
        .k_row_stride = k.row_stride(),
        .v = v.data(),
        .v_row_stride = v.row_stride(),
        .segments = dtype == DType::kF16 ? nullptr : segments.data()};
    CheckTensor& o = check.Output(dtype, rows, q.columns());
    float* lse = check.OutputFloats(rows * s.heads);
    AttentionForward(device, s, in, o.data(), o.row_stride(), lse);
    CheckTensor& dq = check.Output(dtype, rows, q.columns());
    const int64_t slices = dtype == DType::kF16 ? 3 : 0;  // else rounded sums
    const DType sums = slices > 0 ? DType::kF32 : dtype;
    const int64_t columns = k.columns() * std::max<int64_t>(1, slices);
    CheckTensor& dk = check.Output(sums, rows, columns);
    CheckTensor& dv = check.Output(sums, rows, columns);
    AttentionBackward(device, s, in, o.data(), o.row_stride(), lse, d_o.data(),
                      d_o.row_stride(),
                      {.dq = dq.data(),
                       .dq_row_stride = dq.row_stride(),
                       .dk = dk.data(),
                       .dk_row_stride = dk.row_stride(),
                       .dv = dv.data(),
                       .dv_row_stride = dv.row_stride(),
                       .slices = slices});
  }
  return check.Digest();
}

}  // namespace lockstep
