// Rows of cross-entropy over a share of the columns, once per instruction set
// level; orders in cross_entropy_slices.h.

#include <algorithm>
#include <cstdint>

#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/cross_entropy/cross_entropy_slices.h"
#include "model/kernels/cross_entropy/cross_entropy_tree.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

// Columns among the first `columns` here that belong to the vocabulary.
int64_t TrueColumns(const CrossEntropySlicesArgs& args, int64_t columns) {
  return std::clamp<int64_t>(args.vocab - args.first, 0, columns);
}

// The label's column here, or -1.
int64_t LabelColumn(const CrossEntropySlicesArgs& args, int64_t row) {
  const int64_t column = args.labels[row] - args.first;
  return column >= 0 && column < args.columns ? column : -1;
}

void Exponentials(float* logits, int64_t valid, float top) {
  for (int64_t j = 0; j < valid; ++j) logits[j] = math::Exp(logits[j] - top);
}

template <class S>
void GradientRow(const CrossEntropySlicesArgs& args, int64_t row, S* dlogits) {
  const float* exps = args.logits + row * args.logits_row_stride;
  const float total = args.total[row];
  const float loss_scale = static_cast<float>(args.loss_scale);
  const int64_t valid = TrueColumns(args, args.columns);
  const int64_t label = LabelColumn(args, row);
  const float at_label = label < 0 ? 0.0f : exps[label];
#pragma GCC ivdep  // dlogits may be logits
  for (int64_t j = 0; j < valid; ++j) {
    dlogits[j] = FromF32<S>((exps[j] / total) * loss_scale);
  }
  if (label >= 0) {
    dlogits[label] = FromF32<S>((at_label / total - 1.0f) * loss_scale);
  }
  std::fill(dlogits + valid, dlogits + args.columns, FromF32<S>(0.0f));
}

}  // namespace

void CrossEntropyTopRange(const CrossEntropySlicesArgs& args, int64_t begin,
                          int64_t end) {
  const int64_t valid = TrueColumns(args, args.columns);
  for (int64_t row = begin; row < end; ++row) {
    const float* logits = args.logits + row * args.logits_row_stride;
    args.top[row] = args.mask[row] == 0 ? 0.0f : OrderedMax(logits, valid);
  }
}

void CrossEntropySumsRange(const CrossEntropySlicesArgs& args, int64_t begin,
                           int64_t end) {
  const int64_t valid = TrueColumns(args, args.columns);
  for (int64_t row = begin; row < end; ++row) {
    args.total[row] = 0.0f;
    args.target[row] = 0.0f;
    if (args.mask[row] == 0) continue;
    float* logits = args.logits + row * args.logits_row_stride;
    const int64_t label = LabelColumn(args, row);
    if (label >= 0) args.target[row] = logits[label];
    Exponentials(logits, valid, args.top[row]);
    args.total[row] =
        SumOfSlices(logits, valid, args.columns / args.slices, args.slices);
  }
}

void CrossEntropyFinishRange(const CrossEntropySlicesArgs& args, int64_t begin,
                             int64_t end) {
  WithStorage(args.dlogits_dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      S* dlogits = args.dlogits == nullptr
                       ? nullptr
                       : RowOf<S>(args.dlogits, row, args.dlogits_row_stride);
      if (args.mask[row] == 0) {
        args.loss[row] = 0.0f;
        if (dlogits) std::fill_n(dlogits, args.columns, FromF32<S>(0.0f));
        continue;
      }
      args.loss[row] =
          math::Log(args.total[row]) - (args.target[row] - args.top[row]);
      if (dlogits) GradientRow<S>(args, row, dlogits);
    }
  });
}

void CrossEntropyGradientRange(const CrossEntropySlicesArgs& args,
                               int64_t begin, int64_t end) {
  const int64_t valid = TrueColumns(args, args.columns);
  WithStorage(args.dlogits_dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      S* dlogits = RowOf<S>(args.dlogits, row, args.dlogits_row_stride);
      if (args.mask[row] == 0) {
        std::fill_n(dlogits, args.columns, FromF32<S>(0.0f));
        continue;
      }
      Exponentials(args.logits + row * args.logits_row_stride, valid,
                   args.top[row]);
      GradientRow<S>(args, row, dlogits);
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
