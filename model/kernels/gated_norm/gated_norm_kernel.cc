// Ranges of the gated norm, once per instruction set level; orders in
// gated_norm.h.

#include <algorithm>
#include <vector>

#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/gated_norm/gated_norm.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

// m: scratch of `width`.
template <class S>
float ForwardGroup(const S* y, const S* z, const float* weight, int64_t width,
                   float eps, float* __restrict m, S* __restrict out) {
  for (int64_t j = 0; j < width; ++j) {
    const float gate = ToF32(z[j]);
    m[j] = ToF32(y[j]) * (gate * math::Sigmoid(gate));
  }
  const float sum = OrderedSumOf(width, [m](int64_t j) { return m[j] * m[j]; });
  const float rstd =
      1.0f / __builtin_sqrtf(sum / static_cast<float>(width) + eps);
  for (int64_t j = 0; j < width; ++j) {
    out[j] = FromF32<S>((m[j] * rstd) * weight[j]);
  }
  return rstd;
}

template <class S>
struct GroupRows {
  const S* dout;
  const S* y;
  const S* z;
  const float* weight;
  S* dy;
  S* dz;
};

// scratch: 2 * width.
template <class S>
void BackwardGroup(const GroupRows<S>& at, int64_t width, float rstd,
                   float* scratch) {
  float* __restrict sigmoid = scratch;
  float* __restrict mh = scratch + width;
  for (int64_t j = 0; j < width; ++j) {
    const float gate = ToF32(at.z[j]);
    sigmoid[j] = math::Sigmoid(gate);
    mh[j] = (ToF32(at.y[j]) * (gate * sigmoid[j])) * rstd;
  }
  const S* dout = at.dout;
  const float* weight = at.weight;
  const float sum = OrderedSumOf(
      width, [=](int64_t j) { return (ToF32(dout[j]) * weight[j]) * mh[j]; });
  const float mu = sum / static_cast<float>(width);
  S* __restrict dy = at.dy;
  S* __restrict dz = at.dz;
  for (int64_t j = 0; j < width; ++j) {
    const float q = ToF32(dout[j]) * weight[j];
    const float dm = rstd * (q - mh[j] * mu);
    const float gate = ToF32(at.z[j]);
    const float sg = sigmoid[j];
    dy[j] = FromF32<S>(dm * (gate * sg));
    dz[j] =
        FromF32<S>((dm * ToF32(at.y[j])) * (sg * (1.0f + gate * (1.0f - sg))));
  }
}

// Columns [begin, end), all of one group, of one leaf.
template <class S>
void WeightBlock(const GatedNormBackwardArgs& args, int64_t leaf, int64_t group,
                 int64_t begin, int64_t end) {
  const int64_t row0 = leaf * args.rows_per_leaf;
  const S* dout = RowOf<S>(args.dout, row0, args.dout_row_stride);
  const S* y = RowOf<S>(args.y, row0, args.y_row_stride);
  const S* z = RowOf<S>(args.z, row0, args.z_row_stride);
  const float* rstd = args.rstd + row0 * args.groups + group;
  const auto element = [=, &args](int64_t r, int64_t c) {
    const float gate = ToF32(z[r * args.z_row_stride + c]);
    const float m =
        ToF32(y[r * args.y_row_stride + c]) * (gate * math::Sigmoid(gate));
    return ToF32(dout[r * args.dout_row_stride + c]) *
           (m * rstd[r * args.groups]);
  };
  OrderedColumnSumOf(args.rows_per_leaf, begin, end, element,
                     args.dweight + leaf * args.d);
}

}  // namespace

void GatedNormForwardRange(const GatedNormForwardArgs& args, int64_t begin,
                           int64_t end) {
  const int64_t width = args.d / args.groups;
  const float eps = static_cast<float>(args.eps);
  std::vector<float> m(width);
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / args.groups;
      const int64_t first = i % args.groups * width;
      args.rstd[i] =
          ForwardGroup<S>(RowOf<S>(args.y, row, args.y_row_stride) + first,
                          RowOf<S>(args.z, row, args.z_row_stride) + first,
                          args.weight + first, width, eps, m.data(),
                          RowOf<S>(args.out, row, args.out_row_stride) + first);
    }
  });
}

void GatedNormBackwardRange(const GatedNormBackwardArgs& args, int64_t begin,
                            int64_t end) {
  const int64_t width = args.d / args.groups;
  std::vector<float> scratch(2 * width);
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / args.groups;
      const int64_t first = i % args.groups * width;
      const GroupRows<S> at{
          RowOf<S>(args.dout, row, args.dout_row_stride) + first,
          RowOf<S>(args.y, row, args.y_row_stride) + first,
          RowOf<S>(args.z, row, args.z_row_stride) + first,
          args.weight + first,
          RowOf<S>(args.dy, row, args.dy_row_stride) + first,
          RowOf<S>(args.dz, row, args.dz_row_stride) + first};
      BackwardGroup<S>(at, width, args.rstd[i], scratch.data());
    }
  });
}

void GatedNormWeightRange(const GatedNormBackwardArgs& args, int64_t begin,
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
