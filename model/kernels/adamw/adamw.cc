#include "model/kernels/adamw/adamw.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(AdamWRange, const AdamWArgs& args, int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "no sums";

auto AdamWRangeVariants() {
  return LS_KERNEL_VARIANTS(AdamWRange, "adamw", kOrder);
}

}  // namespace

void AdamW(Device& device, const AdamWArgs& args) {
  LS_CHECK(args.runtime == nullptr || IsStorage(args.runtime_dtype))
      << NameOf(args.runtime_dtype);
  LS_CHECK(args.bias_correction1 > 0 && args.bias_correction2 > 0)
      << args.bias_correction1 << " and " << args.bias_correction2;
  RunKernel(device, AdamWRangeVariants(), args, args.n, GrainFor(1));
}

KernelInfo AdamWInfo() {
  return {"adamw", kOrder,     "N1, N2, N6, N10", AdamWRangeVariants().Levels(),
          "",      &AdamWCheck};
}

}  // namespace lockstep
