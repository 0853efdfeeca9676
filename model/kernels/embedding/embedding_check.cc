#include "model/device.h"
#include "model/kernels/embedding/embedding.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string EmbeddingCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 66, d = 389, vocab = 29;
  std::vector<int32_t> ids;
  for (int64_t row = 0; row < rows; ++row) {
    ids.push_back(static_cast<int32_t>(row * row % vocab));
  }
  for (const DType dtype : kCheckTypes) {
    CheckTensor& dout = check.Input(dtype, rows, d);
    CheckTensor& out = check.Output(dtype, rows, d);
    const bool all = dtype != DType::kF16;
    const EmbeddingRows held = {all ? 0 : 5, all ? vocab : 20};
    const int64_t table_rows = held.end - held.begin;
    // The table has no gaps between its rows.
    CheckTensor& table = check.Input(dtype, 1, table_rows * d);
    EmbeddingForwardArgs forward;
    forward.rows = rows;
    forward.d = d;
    forward.vocab = vocab;
    forward.dtype = dtype;
    forward.table = table.data();
    forward.ids = ids.data();
    forward.out = out.data();
    forward.out_row_stride = out.row_stride();
    if (!all) forward.held = held;
    EmbeddingForward(device, forward);
    EmbeddingBackwardArgs backward;
    backward.rows = rows;
    backward.d = d;
    backward.vocab = vocab;
    backward.rows_per_leaf = rows / 3;
    backward.dtype = dtype;
    backward.dout = dout.data();
    backward.dout_row_stride = dout.row_stride();
    backward.ids = ids.data();
    backward.dtable = check.InOut(1, table_rows * d).as<float>();
    if (!all) backward.held = held;
    EmbeddingBackward(device, backward);
  }
  return check.Digest();
}

}  // namespace lockstep
