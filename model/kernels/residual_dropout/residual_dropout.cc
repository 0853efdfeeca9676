#include "model/kernels/residual_dropout/residual_dropout.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(ResidualDropoutForwardRange,
                  const ResidualDropoutForwardArgs& args, int64_t begin,
                  int64_t end)
LS_DECLARE_KERNEL(ResidualDropoutBackwardRange,
                  const ResidualDropoutBackwardArgs& args, int64_t begin,
                  int64_t end)

namespace {

constexpr char kOrder[] = "no sums";

auto ResidualDropoutForwardRangeVariants() {
  return LS_KERNEL_VARIANTS(ResidualDropoutForwardRange, "residual_dropout",
                            kOrder);
}
auto ResidualDropoutBackwardRangeVariants() {
  return LS_KERNEL_VARIANTS(ResidualDropoutBackwardRange, "residual_dropout",
                            kOrder);
}

void CheckDropout(const DropoutPosition& at, int64_t rows) {
  LS_CHECK(at.p >= 0 && at.p < 1) << "p is " << at.p;
  if (at.p == 0) return;
  LS_CHECK_GT(at.tokens, 0) << "no sample length";
  LS_CHECK_GE(at.first_token, 0);
  LS_CHECK_EQ(rows, at.tokens * static_cast<int64_t>(at.sample_ids.size()))
      << "each sample needs its index";
}

}  // namespace

void ResidualDropoutForward(Device& device,
                            const ResidualDropoutForwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  CheckDropout(args.dropout, args.rows);
  RunKernel(device, ResidualDropoutForwardRangeVariants(), args, args.rows,
            GrainFor(args.d));
}

void ResidualDropoutBackward(Device& device,
                             const ResidualDropoutBackwardArgs& args) {
  LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
  CheckDropout(args.dropout, args.rows);
  RunKernel(device, ResidualDropoutBackwardRangeVariants(), args, args.rows,
            GrainFor(args.d));
}

KernelInfo ResidualDropoutInfo() {
  return {"residual_dropout",
          kOrder,
          "N1, N2, N9, N13",
          ResidualDropoutForwardRangeVariants().Levels(),
          "",
          &ResidualDropoutCheck};
}

}  // namespace lockstep
