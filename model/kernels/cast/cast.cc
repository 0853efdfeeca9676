#include "model/kernels/cast/cast.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(CastRange, const CastArgs& args, int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "no sums";

auto CastRangeVariants() {
  return LS_KERNEL_VARIANTS(CastRange, "cast", kOrder);
}

}  // namespace

void Cast(Device& device, const CastArgs& args) {
  LS_CHECK(IsStorage(args.src_dtype) && IsStorage(args.dst_dtype))
      << NameOf(args.src_dtype) << " to " << NameOf(args.dst_dtype);
  LS_CHECK(args.src_dtype == DType::kF32 || args.dst_dtype == DType::kF32)
      << NameOf(args.src_dtype) << " to " << NameOf(args.dst_dtype);
  RunKernel(device, CastRangeVariants(), args, args.n, GrainFor(1));
}

KernelInfo CastInfo() {
  return {"cast", kOrder,    "N2, N10", CastRangeVariants().Levels(),
          "",     &CastCheck};
}

}  // namespace lockstep
