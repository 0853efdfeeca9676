// Ranges of RMSNorm, once per instruction set level; orders in rms_norm.h.

#include <algorithm>

#include "determinism/ordered_sum.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/rms_norm/rms_norm.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

template <class S>
float ForwardGroup(const S* x, const float* weight, int64_t width, float eps,
                   S* y) {
  const float sum = OrderedSumOf(width, [x](int64_t j) {
    const float value = ToF32(x[j]);
    return value * value;
  });
  const float rstd =
      1.0f / __builtin_sqrtf(sum / static_cast<float>(width) + eps);
#pragma GCC ivdep  // y may be x
  for (int64_t j = 0; j < width; ++j) {
    y[j] = FromF32<S>((ToF32(x[j]) * rstd) * weight[j]);
  }
  return rstd;
}

template <class S>
void BackwardGroup(const S* dy, const S* x, const float* weight, int64_t width,
                   float rstd, S* dx) {
  const float sum = OrderedSumOf(width, [=](int64_t j) {
    return (ToF32(dy[j]) * weight[j]) * (ToF32(x[j]) * rstd);
  });
  const float mu = sum / static_cast<float>(width);
#pragma GCC ivdep
  for (int64_t j = 0; j < width; ++j) {
    const float q = ToF32(dy[j]) * weight[j];
    const float xh = ToF32(x[j]) * rstd;
    dx[j] = FromF32<S>(rstd * (q - xh * mu));
  }
}

// Columns [begin, end), all of one group, of one leaf.
template <class S>
void WeightBlock(const RmsNormBackwardArgs& args, int64_t leaf, int64_t group,
                 int64_t begin, int64_t end) {
  const int64_t row0 = leaf * args.rows_per_leaf;
  const S* dy = RowOf<S>(args.dy, row0, args.dy_row_stride);
  const S* x = RowOf<S>(args.x, row0, args.x_row_stride);
  const float* rstd = args.rstd + row0 * args.groups + group;
  const auto element = [=, &args](int64_t r, int64_t c) {
    const float xh =
        ToF32(x[r * args.x_row_stride + c]) * rstd[r * args.groups];
    return ToF32(dy[r * args.dy_row_stride + c]) * xh;
  };
  OrderedColumnSumOf(args.rows_per_leaf, begin, end, element,
                     args.dweight + leaf * args.d);
}

}  // namespace

void RmsNormForwardRange(const RmsNormForwardArgs& args, int64_t begin,
                         int64_t end) {
  const int64_t width = args.d / args.groups;
  const float eps = static_cast<float>(args.eps);
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / args.groups;
      const int64_t first = i % args.groups * width;
      args.rstd[i] = ForwardGroup<S>(
          RowOf<S>(args.x, row, args.x_row_stride) + first, args.weight + first,
          width, eps, RowOf<S>(args.y, row, args.y_row_stride) + first);
    }
  });
}

void RmsNormBackwardRange(const RmsNormBackwardArgs& args, int64_t begin,
                          int64_t end) {
  const int64_t width = args.d / args.groups;
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / args.groups;
      const int64_t first = i % args.groups * width;
      BackwardGroup<S>(RowOf<S>(args.dy, row, args.dy_row_stride) + first,
                       RowOf<S>(args.x, row, args.x_row_stride) + first,
                       args.weight + first, width, args.rstd[i],
                       RowOf<S>(args.dx, row, args.dx_row_stride) + first);
    }
  });
}

void RmsNormWeightRange(const RmsNormBackwardArgs& args, int64_t begin,
                        int64_t end) {
  const int64_t width = args.d / args.groups;
  const int64_t blocks = ColumnBlocks(width);
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / blocks % args.groups;
      const int64_t first = i % blocks * kColumnBlock;
      const int64_t last = std::min(first + kColumnBlock, width);
      WeightBlock<S>(args, i / blocks / args.groups, group,
                     group * width + first, group * width + last);
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
