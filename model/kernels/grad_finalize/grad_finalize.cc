#include "model/kernels/grad_finalize/grad_finalize.h"

#include <cstdlib>
#include <vector>

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/grad_finalize/non_finite_scan.h"
#include "model/kernels/grid.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(GradFinalizeRange, const GradFinalizeArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(GradFinalizeGridRange, const GradFinalizeGridArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(NonFiniteScanRange, const NonFiniteScan& args, int64_t begin,
                  int64_t end)

namespace {

constexpr char kOrder[] = "no sums";

auto GradFinalizeRangeVariants() {
  return LS_KERNEL_VARIANTS(GradFinalizeRange, "grad_finalize", kOrder);
}
auto GradFinalizeGridRangeVariants() {
  return LS_KERNEL_VARIANTS(GradFinalizeGridRange, "grad_finalize", kOrder);
}
auto NonFiniteScanRangeVariants() {
  return LS_KERNEL_VARIANTS(NonFiniteScanRange, "grad_finalize", kOrder);
}

}  // namespace

void GradFinalize(Device& device, const GradFinalizeArgs& args) {
  LS_CHECK(args.divisor > 0) << "divisor " << args.divisor;
  RunKernel(device, GradFinalizeRangeVariants(), args, args.n, GrainFor(1));
}

void GradFinalizeGrid(Device& device, const GradFinalizeGridArgs& args) {
  LS_CHECK(args.divisor > 0) << "divisor " << args.divisor;
  LS_CHECK(std::abs(args.exponent) <= kMostGridExponent) << args.exponent;
  RunKernel(device, GradFinalizeGridRangeVariants(), args, args.n, GrainFor(1));
}

int64_t FirstNonFinite(Device& device, const float* values, int64_t n) {
  const int64_t chunks = (n + kNonFiniteChunk - 1) / kNonFiniteChunk;
  std::vector<int64_t> first_by_chunk(chunks);
  const NonFiniteScan scan{values, n, first_by_chunk.data()};
  RunKernel(device, NonFiniteScanRangeVariants(), scan, chunks, 1);
  for (const int64_t first : first_by_chunk) {
    if (first >= 0) return first;
  }
  return -1;
}

KernelInfo GradFinalizeInfo() {
  return {"grad_finalize",
          kOrder,
          "N1, N2, N5",
          GradFinalizeRangeVariants().Levels(),
          "",
          &GradFinalizeCheck};
}

}  // namespace lockstep
