#include "model/kernels/conv1d_silu/conv1d_silu.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(Conv1dSiluForwardRange, const Conv1dSiluForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(Conv1dSiluBackwardRange, const Conv1dSiluBackwardArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "FMA chain over taps; 32-token blocks down a leaf";

auto Conv1dSiluForwardRangeVariants() {
  return LS_KERNEL_VARIANTS(Conv1dSiluForwardRange, "conv1d_silu", kOrder);
}
auto Conv1dSiluBackwardRangeVariants() {
  return LS_KERNEL_VARIANTS(Conv1dSiluBackwardRange, "conv1d_silu", kOrder);
}

}  // namespace

void Conv1dSiluForward(Device& device, const Conv1dSiluForwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  RunKernel(device, Conv1dSiluForwardRangeVariants(), args,
            args.batch * args.tokens, GrainFor(args.channels));
}

void Conv1dSiluBackward(Device& device, const Conv1dSiluBackwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  LS_CHECK_GT(args.samples_per_leaf, 0);
  LS_CHECK_EQ(args.batch % args.samples_per_leaf, 0);
  RunKernel(device, Conv1dSiluBackwardRangeVariants(), args,
            args.batch / args.samples_per_leaf * ColumnBlocks(args.channels),
            1);
}

KernelInfo Conv1dSiluInfo() {
  return {"conv1d_silu",
          kOrder,
          "N1, N2, N7, N8, N13, N14",
          Conv1dSiluForwardRangeVariants().Levels(),
          "",
          &Conv1dSiluCheck};
}

}  // namespace lockstep
