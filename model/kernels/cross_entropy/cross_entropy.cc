#include "model/kernels/cross_entropy/cross_entropy.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(CrossEntropyRange, const CrossEntropyArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kOrder[] = "64 lanes along a slice of a row, slices by the tree";

auto CrossEntropyRangeVariants() {
  return LS_KERNEL_VARIANTS(CrossEntropyRange, "cross_entropy", kOrder);
}

}  // namespace

void CrossEntropy(Device& device, const CrossEntropyArgs& args) {
  LS_CHECK(args.dlogits == nullptr || IsStorage(args.dlogits_dtype))
      << NameOf(args.dlogits_dtype);
  LS_CHECK_GT(args.vocab, 0);
  LS_CHECK_GE(args.vocab_padded, args.vocab);
  LS_CHECK(args.slices >= 1 && args.slices <= 64 &&
           (args.slices & (args.slices - 1)) == 0)
      << "a tree of " << args.slices << " slices";
  LS_CHECK_EQ(args.vocab_padded % args.slices, 0);
  LS_CHECK_EQ(args.top == nullptr, args.total == nullptr);
  for (int64_t row = 0; row < args.rows; ++row) {
    if (args.mask[row] == 0) continue;
    LS_CHECK(args.labels[row] >= 0 && args.labels[row] < args.vocab)
        << "label " << args.labels[row] << " of row " << row << ", vocabulary "
        << args.vocab;
  }
  RunKernel(device, CrossEntropyRangeVariants(), args, args.rows,
            GrainFor(args.vocab_padded));
}

KernelInfo CrossEntropyInfo() {
  return {"cross_entropy",
          kOrder,
          "N1, N2, N5, N7, N8",
          CrossEntropyRangeVariants().Levels(),
          "",
          &CrossEntropyCheck};
}

}  // namespace lockstep
