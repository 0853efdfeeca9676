#include "model/kernels/rms_norm/rms_norm.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(RmsNormForwardRange, const RmsNormForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(RmsNormBackwardRange, const RmsNormBackwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(RmsNormWeightRange, const RmsNormBackwardArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "64 lanes along a row; 32-row blocks down a leaf";

auto RmsNormForwardRangeVariants() {
  return LS_KERNEL_VARIANTS(RmsNormForwardRange, "rms_norm", kOrder);
}
auto RmsNormBackwardRangeVariants() {
  return LS_KERNEL_VARIANTS(RmsNormBackwardRange, "rms_norm", kOrder);
}
auto RmsNormWeightRangeVariants() {
  return LS_KERNEL_VARIANTS(RmsNormWeightRange, "rms_norm", kOrder);
}

template <class Args>
void CheckShape(const Args& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  LS_CHECK_GE(args.rows, 0);
  LS_CHECK_GT(args.groups, 0);
  LS_CHECK_EQ(args.d % args.groups, 0);
}

}  // namespace

void RmsNormForward(Device& device, const RmsNormForwardArgs& args) {
  CheckShape(args);
  RunKernel(device, RmsNormForwardRangeVariants(), args,
            args.rows * args.groups, GrainFor(args.d / args.groups));
}

void RmsNormBackward(Device& device, const RmsNormBackwardArgs& args) {
  CheckShape(args);
  LS_CHECK_GT(args.rows_per_leaf, 0);
  LS_CHECK_EQ(args.rows % args.rows_per_leaf, 0);
  RunKernel(device, RmsNormBackwardRangeVariants(), args,
            args.rows * args.groups, GrainFor(args.d / args.groups));
  const int64_t leaves = args.rows / args.rows_per_leaf;
  RunKernel(device, RmsNormWeightRangeVariants(), args,
            leaves * args.groups * ColumnBlocks(args.d / args.groups), 1);
}

KernelInfo RmsNormInfo() {
  return {"rms_norm",
          kOrder,
          "N1, N2, N7, N13",
          RmsNormForwardRangeVariants().Levels(),
          "",
          &RmsNormCheck};
}

}  // namespace lockstep
