#include <bit>

#include "model/device.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/self_check.h"

namespace lockstep {
namespace {

constexpr int64_t kM = 97, kN = 83, kK = 133;

MatmulArgs Product(SelfCheck& check, DType operands, CheckTensor& c,
                   DType c_dtype) {
  CheckTensor& a = check.Input(operands, kM, kK);
  CheckTensor& b = check.Input(operands, kN, kK);  // transposed
  MatmulArgs args;
  args.m = kM;
  args.n = kN;
  args.k = kK;
  args.a = {a.data(), operands, a.row_stride(), 1};
  args.b = {b.data(), operands, 1, b.row_stride()};
  args.c = c.data();
  args.c_dtype = c_dtype;
  args.c_row_stride = c.row_stride();
  return args;
}

}  // namespace

std::string MatmulCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  const KSegment segments[] = {{0, 50}, {50, 90}, {90, 100}, {100, kK}};
  const KSlice slices[] = {
      {segments, 1}, {segments + 1, 2}, {nullptr, 0}, {segments + 3, 1}};
  GridStats stats;
  for (const DType dtype : kCheckTypes) {
    Matmul(device, Product(check, dtype, check.Output(dtype, kM, kN), dtype));
    MatmulArgs sum = Product(check, dtype, check.InOut(kM, kN), DType::kF32);
    sum.accumulate = true;
    Matmul(device, sum);
    MatmulArgs tree = Product(check, dtype, check.Output(dtype, kM, kN), dtype);
    tree.slices = slices;
    tree.slice_count = 4;
    Matmul(device, tree);
    MatmulArgs grid =
        Product(check, dtype, check.Output(DType::kI64, kM, kN), DType::kI64);
    grid.slices = slices;
    grid.slice_count = 4;
    grid.slice_use = SliceUse::kLeaves;
    grid.grid_exponent = 30;
    grid.grid_stats = &stats;
    Matmul(device, grid);
  }
  check.Add(std::bit_cast<uint32_t>(stats.max_abs));
  check.Add(static_cast<uint64_t>(stats.below_grid));
  return check.Digest();
}

}  // namespace lockstep
