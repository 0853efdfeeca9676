// Ranges of RMSNorm, once per instruction set level; orders in rms_norm.h.

#include <cmath>

#include "determinism/ordered_sum.h"
#include "model/kernels/column_sum.h"
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
  const float rstd = 1.0f / std::sqrt(sum / static_cast<float>(width) + eps);
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

// One (leaf, group, column block).
template <class S>
void WeightBlock(const RmsNormBackwardArgs& args, int64_t leaf, int64_t group,
                 int64_t first, int64_t columns) {
  const int64_t row0 = leaf * args.rows_per_leaf;
  const auto add_row = [&](int64_t r, float* __restrict chain) {
    const int64_t row = row0 + r;
    const S* dy = RowOf<S>(args.dy, row, args.dy_row_stride) + first;
    const S* x = RowOf<S>(args.x, row, args.x_row_stride) + first;
    const float rstd = args.rstd[row * args.groups + group];
    for (int64_t c = 0; c < columns; ++c) {
      chain[c] += ToF32(dy[c]) * (ToF32(x[c]) * rstd);
    }
  };
  ColumnSumBlock(args.rows_per_leaf, columns, add_row,
                 args.dweight + leaf * args.d + first);
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
      const int64_t offset = i % blocks * kColumnBlock;
      const int64_t left = width - offset;
      WeightBlock<S>(args, i / blocks / args.groups, group,
                     group * width + offset,
                     left < kColumnBlock ? left : kColumnBlock);
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
