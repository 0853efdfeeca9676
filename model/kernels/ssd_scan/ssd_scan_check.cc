#include "model/device.h"
#include "model/kernels/self_check.h"
#include "model/kernels/ssd_scan/ssd_scan.h"

namespace lockstep {
namespace {

void Run(Device& device, SelfCheck& check, DType dtype,
         const int32_t* segments) {
  const SsdShape s = {.batch = 2,
                      .tokens = 75,
                      .heads = 4,
                      .head_dim = 20,
                      .groups = 2,
                      .state = 12,
                      .chunk = 32};
  const int64_t rows = s.batch * s.tokens, wide = s.heads * s.head_dim;
  const int64_t narrow = s.groups * s.state;
  CheckTensor& x = check.Input(dtype, rows, wide);
  CheckTensor& b = check.Input(dtype, rows, narrow);
  CheckTensor& c = check.Input(dtype, rows, narrow);
  CheckTensor& dt = check.Input(dtype, rows, s.heads);
  CheckTensor& dy = check.Input(dtype, rows, wide);
  const SsdInputs in = {dtype,
                        x.data(),
                        x.row_stride(),
                        b.data(),
                        b.row_stride(),
                        c.data(),
                        c.row_stride(),
                        dt.data(),
                        dt.row_stride(),
                        check.Floats(s.heads, -2.0f),
                        check.Floats(s.heads),
                        check.Floats(s.heads),
                        segments};
  const int64_t states = s.batch * s.heads * s.chunks() * s.head_dim * s.state;
  const SsdSaved saved = {check.OutputFloats(rows * s.heads),
                          check.OutputFloats(rows * s.heads),
                          check.OutputFloats(states)};
  CheckTensor& y = check.Output(dtype, rows, wide);
  SsdForward(device, s, in, saved, y.data(), y.row_stride());
  CheckTensor& dx = check.Output(dtype, rows, wide);
  CheckTensor& db = check.Output(dtype, rows, narrow);
  CheckTensor& dc = check.Output(dtype, rows, narrow);
  CheckTensor& ddt = check.Output(dtype, rows, s.heads);
  SsdBackward(device, s, in, saved, dy.data(), dy.row_stride(),
              {dx.data(), dx.row_stride(), db.data(), db.row_stride(),
               dc.data(), dc.row_stride(), ddt.data(), ddt.row_stride(),
               check.OutputFloats(s.batch * s.heads),
               check.OutputFloats(s.batch * s.heads),
               check.OutputFloats(s.batch * s.heads), 1});
}

}  // namespace

std::string SsdScanCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const std::vector<int32_t> segments = CheckSegments(2, 75);
  for (const DType dtype : kCheckTypes) {
    Run(device, check, dtype, dtype == DType::kF16 ? nullptr : segments.data());
  }
  return check.Digest();
}

}  // namespace lockstep
