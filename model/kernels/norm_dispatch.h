// The public side of a norm over groups of a row: its three kernels, the ranges
// they run on, and what may be asked of them.
//
// What it is: what rms_norm and gated_norm have in common, which is all but the
// formula. What it is not: the kernels, or an order. Why so: both cut rows into
// groups and a weight's gradient into leaves and column blocks, and must go on
// doing so alike.

#ifndef MODEL_KERNELS_NORM_DISPATCH_H_
#define MODEL_KERNELS_NORM_DISPATCH_H_

#include "determinism/check.h"
#include "model/device.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {

inline constexpr char kNormOrder[] =
    "64 lanes along a row; 32-row blocks down a leaf";

template <class Forward, class Backward>
struct NormKernels {
  template <class Args>
  using Kernel = void (*)(const Args& args, int64_t begin, int64_t end);

  // Items: (row, group); the same; (leaf, group, block of columns).
  KernelVariants<Kernel<Forward>> forward;
  KernelVariants<Kernel<Backward>> backward;
  KernelVariants<Kernel<Backward>> weight;

  template <class Args>
  static void CheckShape(const Args& args) {
    LS_CHECK(IsStorage(args.dtype)) << NameOf(args.dtype);
    LS_CHECK_GE(args.rows, 0);
    LS_CHECK_GT(args.groups, 0);
    LS_CHECK_EQ(args.d % args.groups, 0);
  }

  void RunForward(Device& device, const Forward& args) const {
    CheckShape(args);
    RunKernel(device, forward, args, args.rows * args.groups,
              GrainFor(args.d / args.groups));
  }

  void RunBackward(Device& device, const Backward& args) const {
    CheckShape(args);
    LS_CHECK_GT(args.rows_per_leaf, 0);
    LS_CHECK_EQ(args.rows % args.rows_per_leaf, 0);
    RunKernel(device, backward, args, args.rows * args.groups,
              GrainFor(args.d / args.groups));
    const int64_t leaves = args.rows / args.rows_per_leaf;
    RunKernel(device, weight, args,
              leaves * args.groups * ColumnBlocks(args.d / args.groups), 1);
  }
};

}  // namespace lockstep

#endif  // MODEL_KERNELS_NORM_DISPATCH_H_
