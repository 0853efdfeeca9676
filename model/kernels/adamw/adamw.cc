#include "model/kernels/adamw/adamw.h"

#include <algorithm>

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(AdamWRange, const AdamWArgs& args, int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "no sums";

// Of 18 bytes an element, in the second-level cache.
constexpr int64_t kBlock = 16 * 1024;

auto AdamWRangeVariants() {
  return LS_KERNEL_VARIANTS(AdamWRange, "adamw", kOrder);
}

}  // namespace

void AdamW(Device& device, const AdamWArgs& args, const AdamWBlockDone& done) {
  LS_CHECK(args.runtime == nullptr || IsStorage(args.runtime_dtype))
      << NameOf(args.runtime_dtype);
  LS_CHECK(args.bias_correction1 > 0 && args.bias_correction2 > 0)
      << args.bias_correction1 << " and " << args.bias_correction2;
  const auto update = KernelFor(device, AdamWRangeVariants(), args.n);
  device.threads().ParallelFor(
      args.n,
      [&](int64_t begin, int64_t end) {
        for (int64_t first = begin; first < end; first += kBlock) {
          const int64_t last = std::min(end, first + kBlock);
          update(args, first, last);
          if (done) done(first, last);
        }
      },
      GrainFor(1));
}

KernelInfo AdamWInfo() {
  return {"adamw", kOrder,     "N1, N2, N6, N10", AdamWRangeVariants().Levels(),
          "",      &AdamWCheck};
}

}  // namespace lockstep
