#include "model/kernels/cross_entropy/cross_entropy_slices.h"

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

LS_DECLARE_KERNEL(CrossEntropyTopRange, const CrossEntropySlicesArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(CrossEntropySumsRange, const CrossEntropySlicesArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(CrossEntropyFinishRange, const CrossEntropySlicesArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(CrossEntropyGradientRange, const CrossEntropySlicesArgs& args,
                  int64_t begin, int64_t end)

namespace {

constexpr char kName[] = "cross_entropy";
constexpr char kOrder[] = "64 lanes along a slice of a row, slices by the tree";

void Check(const CrossEntropySlicesArgs& args) {
  LS_CHECK(args.dlogits == nullptr || IsStorage(args.dlogits_dtype))
      << NameOf(args.dlogits_dtype);
  LS_CHECK_GT(args.vocab, 0);
  LS_CHECK(args.slices >= 1 && args.slices <= 64 &&
           (args.slices & (args.slices - 1)) == 0)
      << "a tree of " << args.slices << " slices";
  LS_CHECK_EQ(args.columns % args.slices, 0);
  for (int64_t row = 0; row < args.rows; ++row) {
    if (args.mask[row] == 0) continue;
    LS_CHECK(args.labels[row] >= 0 && args.labels[row] < args.vocab)
        << "label " << args.labels[row] << " of row " << row << ", vocabulary "
        << args.vocab;
  }
}

template <class Variants>
void Run(Device& device, const Variants& variants,
         const CrossEntropySlicesArgs& args) {
  Check(args);
  RunKernel(device, variants, args, args.rows, GrainFor(args.columns));
}

}  // namespace

void CrossEntropyTop(Device& device, const CrossEntropySlicesArgs& args) {
  Run(device, LS_KERNEL_VARIANTS(CrossEntropyTopRange, kName, kOrder), args);
}

void CrossEntropySums(Device& device, const CrossEntropySlicesArgs& args) {
  Run(device, LS_KERNEL_VARIANTS(CrossEntropySumsRange, kName, kOrder), args);
}

void CrossEntropyFinish(Device& device, const CrossEntropySlicesArgs& args) {
  Run(device, LS_KERNEL_VARIANTS(CrossEntropyFinishRange, kName, kOrder), args);
}

void CrossEntropyGradient(Device& device, const CrossEntropySlicesArgs& args) {
  LS_CHECK(args.dlogits != nullptr);
  Run(device, LS_KERNEL_VARIANTS(CrossEntropyGradientRange, kName, kOrder),
      args);
}

}  // namespace lockstep
