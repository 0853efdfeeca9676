// Rows of cross-entropy, once per instruction set level; orders in
// cross_entropy.h.

#include <vector>

#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/cross_entropy/cross_entropy.h"
#include "model/kernels/cross_entropy/cross_entropy_tree.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

template <class S>
void ZeroFrom(int64_t first, int64_t last, S* dlogits) {
  for (int64_t j = first; j < last; ++j) dlogits[j] = FromF32<S>(0.0f);
}

struct RowSums {
  float top;
  float total;
};

// Leaves Exp(l - top) in `exps`.
RowSums SumsOfRow(const CrossEntropyArgs& args, const float* logits,
                  float* __restrict exps) {
  const float top = OrderedMax(logits, args.vocab);
  for (int64_t j = 0; j < args.vocab; ++j) {
    exps[j] = math::Exp(logits[j] - top);
  }
  return {top, SumOfSlices(exps, args.vocab, args.vocab_padded / args.slices,
                           args.slices)};
}

void KeepSums(const CrossEntropyArgs& args, int64_t row, const RowSums& sums) {
  if (args.top == nullptr) return;
  args.top[row] = sums.top;
  args.total[row] = sums.total;
}

template <class S>
void RowGradient(const float* __restrict exps, float total, int32_t label,
                 float loss_scale, int64_t vocab, int64_t vocab_padded,
                 S* __restrict dlogits) {
  for (int64_t j = 0; j < vocab; ++j) {
    dlogits[j] = FromF32<S>((exps[j] / total) * loss_scale);
  }
  dlogits[label] = FromF32<S>((exps[label] / total - 1.0f) * loss_scale);
  ZeroFrom<S>(vocab, vocab_padded, dlogits);
}

}  // namespace

void CrossEntropyRange(const CrossEntropyArgs& args, int64_t begin,
                       int64_t end) {
  std::vector<float> exps(args.vocab);
  const float loss_scale = static_cast<float>(args.loss_scale);
  WithStorage(args.dlogits_dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      S* dlogits = args.dlogits == nullptr
                       ? nullptr
                       : RowOf<S>(args.dlogits, row, args.dlogits_row_stride);
      if (args.mask[row] == 0) {
        args.loss[row] = 0.0f;
        KeepSums(args, row, {0.0f, 0.0f});
        if (dlogits) ZeroFrom<S>(0, args.vocab_padded, dlogits);
        continue;
      }
      const int32_t label = args.labels[row];
      const float* logits = args.logits + row * args.logits_row_stride;
      const RowSums sums = SumsOfRow(args, logits, exps.data());
      args.loss[row] = math::Log(sums.total) - (logits[label] - sums.top);
      KeepSums(args, row, sums);
      if (dlogits == nullptr) continue;
      RowGradient<S>(exps.data(), sums.total, label, loss_scale, args.vocab,
                     args.vocab_padded, dlogits);
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
