#include "model/kernels/grid_accumulate/grid_accumulate.h"

#include <cstdlib>
#include <mutex>

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"

namespace lockstep {

LS_DECLARE_KERNEL(GridAccumulateRange, const GridAccumulateArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "integer sums, which have none";

auto GridAccumulateRangeVariants() {
  return LS_KERNEL_VARIANTS(GridAccumulateRange, "grid_accumulate", kOrder);
}

}  // namespace

void GridAccumulate(Device& device, const GridAccumulateArgs& args) {
  LS_CHECK(args.stats != nullptr);
  LS_CHECK(std::abs(args.exponent) <= kMostGridExponent) << args.exponent;
  LS_CHECK(args.leaves >= 0);
  const auto accumulate =
      KernelFor(device, GridAccumulateRangeVariants(), args.n);
  std::mutex mutex;
  device.threads().ParallelFor(
      args.n,
      [&](int64_t begin, int64_t end) {
        GridStats stats;
        GridAccumulateArgs part = args;
        part.stats = &stats;
        accumulate(part, begin, end);
        const std::lock_guard<std::mutex> lock(mutex);
        args.stats->Merge(stats);
      },
      GrainFor(args.leaves));
}

KernelInfo GridAccumulateInfo() {
  return {"grid_accumulate",
          kOrder,
          "N1, N2, N5",
          GridAccumulateRangeVariants().Levels(),
          "",
          &GridAccumulateCheck};
}

}  // namespace lockstep
