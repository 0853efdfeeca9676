#include "model/device.h"
#include "model/kernels/self_check.h"
#include "model/kernels/slice_tree/slice_tree.h"

namespace lockstep {

std::string SliceTreeCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const int64_t rows = 67, columns = 389, count = 8;
  for (const DType dtype : kCheckTypes) {
    CheckTensor& partials = check.Input(DType::kF32, count * rows, columns);
    CheckTensor& out = check.Output(dtype, rows, columns);
    CombineSliceTreeArgs args;
    args.rows = rows;
    args.columns = columns;
    args.count = count;
    args.partials = partials.as<float>();
    args.partial_stride = rows * partials.row_stride();
    args.partial_row_stride = partials.row_stride();
    args.out = out.data();
    args.out_dtype = dtype;
    args.out_row_stride = out.row_stride();
    CombineSliceTree(device, args);
  }
  return check.Digest();
}

}  // namespace lockstep
