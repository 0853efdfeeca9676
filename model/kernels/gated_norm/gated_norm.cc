#include "model/kernels/gated_norm/gated_norm.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(GatedNormForwardRange, const GatedNormForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(GatedNormBackwardRange, const GatedNormBackwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(GatedNormWeightRange, const GatedNormBackwardArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "64 lanes along a row; 32-row blocks down a leaf";

auto GatedNormForwardRangeVariants() {
  return LS_KERNEL_VARIANTS(GatedNormForwardRange, "gated_norm", kOrder);
}
auto GatedNormBackwardRangeVariants() {
  return LS_KERNEL_VARIANTS(GatedNormBackwardRange, "gated_norm", kOrder);
}
auto GatedNormWeightRangeVariants() {
  return LS_KERNEL_VARIANTS(GatedNormWeightRange, "gated_norm", kOrder);
}

template <class Args>
void CheckShape(const Args& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  LS_CHECK_GE(args.rows, 0);
  LS_CHECK_GT(args.groups, 0);
  LS_CHECK_EQ(args.d % args.groups, 0);
}

}  // namespace

void GatedNormForward(Device& device, const GatedNormForwardArgs& args) {
  CheckShape(args);
  RunKernel(device, GatedNormForwardRangeVariants(), args,
            args.rows * args.groups, GrainFor(args.d / args.groups));
}

void GatedNormBackward(Device& device, const GatedNormBackwardArgs& args) {
  CheckShape(args);
  LS_CHECK_GT(args.rows_per_leaf, 0);
  LS_CHECK_EQ(args.rows % args.rows_per_leaf, 0);
  RunKernel(device, GatedNormBackwardRangeVariants(), args,
            args.rows * args.groups, GrainFor(args.d / args.groups));
  const int64_t leaves = args.rows / args.rows_per_leaf;
  RunKernel(device, GatedNormWeightRangeVariants(), args,
            leaves * args.groups * ColumnBlocks(args.d / args.groups), 1);
}

KernelInfo GatedNormInfo() {
  return {"gated_norm",
          kOrder,
          "N1, N2, N7, N8, N13",
          GatedNormForwardRangeVariants().Levels(),
          "",
          &GatedNormCheck};
}

}  // namespace lockstep
