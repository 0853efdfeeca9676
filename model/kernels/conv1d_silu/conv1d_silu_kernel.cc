// Ranges of the causal convolution with SiLU, once per instruction set level;
// orders in conv1d_silu.h. Loops run over channels, which are independent.

#include <algorithm>
#include <vector>

#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/column_blocks.h"
#include "model/kernels/conv1d_silu/conv1d_silu.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

constexpr int64_t kTaps = kConv1dTaps;

// Whether output token t of a sample reads token s <= t.
bool Reads(const int32_t* segments, int64_t s, int64_t t) {
  return s >= 0 && (segments == nullptr || segments[s] == segments[t]);
}

// The rows that token t reads, by tap; null where a tap is skipped. x and
// segments begin at the sample.
template <class S>
struct TapRows {
  const S* row[kTaps];
  bool all;
};
template <class S>
TapRows<S> RowsOf(const S* x, int64_t x_row_stride, const int32_t* segments,
                  int64_t t) {
  TapRows<S> taps{{}, true};
  for (int64_t k = 0; k < kTaps; ++k) {
    const int64_t s = t - (kTaps - 1) + k;
    const bool reads = Reads(segments, s, t);
    taps.row[k] = reads ? x + s * x_row_stride : nullptr;
    taps.all = taps.all && reads;
  }
  return taps;
}

// Weights by tap: w[k * stride + c]; the bias follows as row kTaps.
void TransposeWeights(const float* weight, const float* bias, int64_t channels,
                      int64_t stride, float* __restrict w) {
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t k = 0; k < kTaps; ++k) {
      w[k * stride + c] = weight[c * kTaps + k];
    }
    w[kTaps * stride + c] = bias[c];
  }
}

// The chain over taps, for channels [first, first + n) of the rows.
template <class S>
void PreActivation(const TapRows<S>& taps, int64_t first, int64_t n,
                   const float* w, int64_t stride, float* __restrict pre) {
  const float* bias = w + kTaps * stride;
  if (taps.all) {
    const S* x0 = taps.row[0] + first;
    const S* x1 = taps.row[1] + first;
    const S* x2 = taps.row[2] + first;
    const S* x3 = taps.row[3] + first;
    for (int64_t c = 0; c < n; ++c) {
      float sum = __builtin_fmaf(w[c], ToF32(x0[c]), bias[c]);
      sum = __builtin_fmaf(w[stride + c], ToF32(x1[c]), sum);
      sum = __builtin_fmaf(w[2 * stride + c], ToF32(x2[c]), sum);
      pre[c] = __builtin_fmaf(w[3 * stride + c], ToF32(x3[c]), sum);
    }
    return;
  }
  for (int64_t c = 0; c < n; ++c) pre[c] = bias[c];
  for (int64_t k = 0; k < kTaps; ++k) {
    if (taps.row[k] == nullptr) continue;
    const S* x = taps.row[k] + first;
    const float* wk = w + k * stride;
    for (int64_t c = 0; c < n; ++c) {
      pre[c] = __builtin_fmaf(wk[c], ToF32(x[c]), pre[c]);
    }
  }
}

template <class S>
void SiluStore(const float* __restrict pre, int64_t n, S* __restrict y) {
  for (int64_t c = 0; c < n; ++c) {
    y[c] = FromF32<S>(pre[c] * math::Sigmoid(pre[c]));
  }
}

// The backward pass of one leaf and one block of channels, token by token.
template <class S>
class BackwardBlock {
 public:
  BackwardBlock(const Conv1dSiluBackwardArgs& args, int64_t first, int64_t n)
      : args_(args), first_(first), n_(n) {
    TransposeWeights(args.weight + first * kTaps, args.bias + first, n,
                     kColumnBlock, w_);
  }

  void Leaf(int64_t leaf) {
    std::fill_n(total_[0], (kTaps + 1) * kColumnBlock, 0.0f);
    std::fill_n(chain_[0], (kTaps + 1) * kColumnBlock, 0.0f);
    rows_in_chain_ = 0;
    const int64_t begin = leaf * args_.samples_per_leaf;
    for (int64_t i = 0; i < args_.samples_per_leaf; ++i) Sample(begin + i);
    if (rows_in_chain_ > 0) EndChain();
    float* dweight = args_.dweight + (leaf * args_.channels + first_) * kTaps;
    float* dbias = args_.dbias + leaf * args_.channels + first_;
    for (int64_t c = 0; c < n_; ++c) {
      for (int64_t k = 0; k < kTaps; ++k) dweight[c * kTaps + k] = total_[k][c];
      dbias[c] = total_[kTaps][c];
    }
  }

 private:
  void Sample(int64_t sample) {
    const int64_t row0 = sample * args_.tokens;
    const S* x = RowOf<S>(args_.x, row0, args_.x_row_stride);
    const S* dy = RowOf<S>(args_.dy, row0, args_.dy_row_stride) + first_;
    S* dx = RowOf<S>(args_.dx, row0, args_.dx_row_stride) + first_;
    const int32_t* segments =
        args_.segments == nullptr ? nullptr : args_.segments + row0;
    for (int64_t t = 0; t < args_.tokens; ++t) {
      const TapRows<S> taps = RowsOf(x, args_.x_row_stride, segments, t);
      PreGradient(taps, dy + t * args_.dy_row_stride, dpre_[t % kTaps]);
      AddParameterGradients(taps, dpre_[t % kTaps]);
      const int64_t s = t - (kTaps - 1);  // whose readers are complete now
      if (s >= 0) InputGradient(segments, s, dx + s * args_.dx_row_stride);
    }
    for (int64_t s = std::max<int64_t>(args_.tokens - (kTaps - 1), 0);
         s < args_.tokens; ++s) {
      InputGradient(segments, s, dx + s * args_.dx_row_stride);
    }
  }

  void PreGradient(const TapRows<S>& taps, const S* dy,
                   float* __restrict dpre) {
    float pre[kColumnBlock];
    PreActivation(taps, first_, n_, w_, kColumnBlock, pre);
    for (int64_t c = 0; c < n_; ++c) {
      const float sg = math::Sigmoid(pre[c]);
      dpre[c] = ToF32(dy[c]) * (sg * (1.0f + pre[c] * (1.0f - sg)));
    }
  }

  void AddParameterGradients(const TapRows<S>& taps, const float* dpre) {
    for (int64_t k = 0; k < kTaps; ++k) {
      if (taps.row[k] == nullptr) continue;
      const S* x = taps.row[k] + first_;
      float* __restrict chain = chain_[k];
      for (int64_t c = 0; c < n_; ++c) chain[c] += dpre[c] * ToF32(x[c]);
    }
    float* __restrict chain = chain_[kTaps];
    for (int64_t c = 0; c < n_; ++c) chain[c] += dpre[c];
    if (++rows_in_chain_ == kOrderedRows) EndChain();
  }

  void EndChain() {
    for (int64_t k = 0; k <= kTaps; ++k) {
      for (int64_t c = 0; c < n_; ++c) {
        total_[k][c] += chain_[k][c];
        chain_[k][c] = 0.0f;
      }
    }
    rows_in_chain_ = 0;
  }

  void InputGradient(const int32_t* segments, int64_t s, S* dx) {
    float sum[kColumnBlock] = {};
    for (int64_t k = 0; k < kTaps; ++k) {
      const int64_t t = s + (kTaps - 1) - k;
      if (t >= args_.tokens || !Reads(segments, s, t)) continue;
      const float* dpre = dpre_[t % kTaps];
      const float* wk = w_ + k * kColumnBlock;
      for (int64_t c = 0; c < n_; ++c) {
        sum[c] = __builtin_fmaf(wk[c], dpre[c], sum[c]);
      }
    }
    for (int64_t c = 0; c < n_; ++c) dx[c] = FromF32<S>(sum[c]);
  }

  const Conv1dSiluBackwardArgs& args_;
  const int64_t first_;
  const int64_t n_;
  int64_t rows_in_chain_ = 0;
  float w_[(kTaps + 1) * kColumnBlock];
  float dpre_[kTaps][kColumnBlock];       // of token t at t % kTaps
  float chain_[kTaps + 1][kColumnBlock];  // by tap; the bias last
  float total_[kTaps + 1][kColumnBlock];
};

}  // namespace

// Items are tokens of the batch.
void Conv1dSiluForwardRange(const Conv1dSiluForwardArgs& args, int64_t begin,
                            int64_t end) {
  const int64_t channels = args.channels;
  std::vector<float> w((kTaps + 1) * channels);
  std::vector<float> pre(channels);
  TransposeWeights(args.weight, args.bias, channels, channels, w.data());
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row0 = i / args.tokens * args.tokens;
      const int32_t* segments =
          args.segments == nullptr ? nullptr : args.segments + row0;
      const TapRows<S> taps = RowsOf(RowOf<S>(args.x, row0, args.x_row_stride),
                                     args.x_row_stride, segments, i - row0);
      PreActivation(taps, 0, channels, w.data(), channels, pre.data());
      SiluStore(pre.data(), channels, RowOf<S>(args.y, i, args.y_row_stride));
    }
  });
}

// Items are (leaf, block of channels), channels fastest.
void Conv1dSiluBackwardRange(const Conv1dSiluBackwardArgs& args, int64_t begin,
                             int64_t end) {
  const int64_t blocks = ColumnBlocks(args.channels);
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kColumnBlock;
      BackwardBlock<S> block(args, first,
                             std::min(args.channels - first, kColumnBlock));
      block.Leaf(i / blocks);
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
