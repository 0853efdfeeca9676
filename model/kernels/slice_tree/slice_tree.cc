#include "model/kernels/slice_tree/slice_tree.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(SliceTreeRange, const CombineSliceTreeArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "balanced tree over slices";

auto SliceTreeRangeVariants() {
  return LS_KERNEL_VARIANTS(SliceTreeRange, "slice_tree", kOrder);
}

}  // namespace

void CombineSliceTree(Device& device, const CombineSliceTreeArgs& args) {
  LS_CHECK(args.count >= 1 && args.count <= 64 &&
           (args.count & (args.count - 1)) == 0)
      << "a tree of " << args.count << " partial sums";
  LS_CHECK(IsStorage(args.out_dtype)) << NameOf(args.out_dtype);
  RunKernel(device, SliceTreeRangeVariants(), args, args.rows,
            GrainFor(args.count * args.columns));
}

KernelInfo SliceTreeInfo() {
  return {"slice_tree", kOrder,
          "N1, N4",     SliceTreeRangeVariants().Levels(),
          "",           &SliceTreeCheck};
}

}  // namespace lockstep
