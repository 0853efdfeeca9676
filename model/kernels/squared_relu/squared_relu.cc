#include "model/kernels/squared_relu/squared_relu.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(SquaredReluForwardRange, const SquaredReluForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(SquaredReluBackwardRange, const SquaredReluBackwardArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "no sums";

auto SquaredReluForwardRangeVariants() {
  return LS_KERNEL_VARIANTS(SquaredReluForwardRange, "squared_relu", kOrder);
}
auto SquaredReluBackwardRangeVariants() {
  return LS_KERNEL_VARIANTS(SquaredReluBackwardRange, "squared_relu", kOrder);
}

}  // namespace

void SquaredReluForward(Device& device, const SquaredReluForwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  RunKernel(device, SquaredReluForwardRangeVariants(), args, args.rows,
            GrainFor(args.d));
}

void SquaredReluBackward(Device& device, const SquaredReluBackwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  RunKernel(device, SquaredReluBackwardRangeVariants(), args, args.rows,
            GrainFor(args.d));
}

KernelInfo SquaredReluInfo() {
  return {"squared_relu",
          kOrder,
          "N1, N2, N13",
          SquaredReluForwardRangeVariants().Levels(),
          "",
          &SquaredReluCheck};
}

}  // namespace lockstep
