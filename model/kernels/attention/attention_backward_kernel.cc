#include <algorithm>
#include <cstdint>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/math.h"
#include "model/kernels/attention/attention_kernel.h"
#include "model/kernels/attention/attention_panels.h"
#include "model/kernels/block_product.h"
#include "model/kernels/panel.h"
#include "model/kernels/row_sum.h"
#include "model/kernels/storage.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

// One (sample, key/value head) after another. Query blocks ascending outside,
// key blocks ascending inside: so dq meets its key blocks in order, and dk and
// dv their query blocks.
template <class S>
class KvHeadBackward {
 public:
  explicit KvHeadBackward(const AttentionBackwardArgs& args)
      : args_(args),
        size_(args.shape),
        memory_(PanelFloats(size_)),
        segments_(size_.t_stride) {
    const int64_t panel = size_.t_stride * size_.d_stride;
    for (float** p : {&q_, &d_o_, &k_, &k_transposed_, &v_transposed_, &dq_,
                      &dk_, &dv_, &dk_sum_, &dv_sum_}) {
      *p = memory_.Take(panel);
    }
    p_ = memory_.Take(size_.s_stride * size_.s_stride);
    ds_ = memory_.Take(size_.s_stride * size_.s_stride);
    delta_ = memory_.Take(size_.t_stride);
  }

  void Run(int64_t sample, int64_t kv_head) {
    ReadKeysAndValues(sample, kv_head);
    const int64_t slices = args_.out.slices;
    if (slices == 0) return RunSlice<S>(sample, kv_head, size_.heads_of_kv);
    for (int64_t s = kv_head * slices; s < (kv_head + 1) * slices; ++s) {
      RunSlice<float>(sample, s, size_.heads_of_kv / slices);
    }
  }

 private:
  // Slice `slice` of all, each of `heads` query heads; dk and dv in Out.
  template <class Out>
  void RunSlice(int64_t sample, int64_t slice, int64_t heads) {
    const int64_t panel = size_.t_stride * size_.d_stride;
    for (float* sum : {dk_sum_, dv_sum_}) std::fill_n(sum, panel, 0.0f);
    for (int64_t h = 0; h < heads; ++h) RunHead(sample, slice * heads + h);
    const AttentionGradients& out = args_.out;
    WriteHead<Out>(size_, dk_sum_, sample, slice, out.dk, out.dk_row_stride);
    WriteHead<Out>(size_, dv_sum_, sample, slice, out.dv, out.dv_row_stride);
  }

  static int64_t PanelFloats(const AttentionSizes<S>& size) {
    return 10 * size.t_stride * size.d_stride +
           2 * size.s_stride * size.s_stride + size.t_stride;
  }

  void Read(const void* source, int64_t stride, int64_t sample, int64_t column,
            float* panel) {
    ReadPanel(
        static_cast<const S*>(source) + sample * size_.tokens * stride + column,
        stride, size_.tokens, size_.t_stride, size_.width, panel,
        size_.d_stride);
  }

  void ReadKeysAndValues(int64_t sample, int64_t kv_head) {
    const int64_t column = kv_head * size_.width;
    // k_ serves as room for the values before they are transposed.
    Read(args_.in.v, args_.in.v_row_stride, sample, column, k_);
    TransposePanel(k_, size_.d_stride, size_.t_stride, size_.width,
                   v_transposed_, size_.t_stride);
    Read(args_.in.k, args_.in.k_row_stride, sample, column, k_);
    TransposePanel(k_, size_.d_stride, size_.t_stride, size_.width,
                   k_transposed_, size_.t_stride);
    ReadDocuments(args_.shape, args_.in, sample, size_.t_stride,
                  segments_.data());
  }

  void RunHead(int64_t sample, int64_t head) {
    const int64_t column = head * size_.width;
    const int64_t panel = size_.t_stride * size_.d_stride;
    // dq_ serves as room for o before it is the gradient.
    Read(args_.o, args_.o_row_stride, sample, column, dq_);
    Read(args_.d_o, args_.d_o_row_stride, sample, column, d_o_);
    Read(args_.in.q, args_.in.q_row_stride, sample, column, q_);
    for (int64_t i = 0; i < size_.tokens; ++i) {
      const int64_t at = i * size_.d_stride;
      delta_[i] = RowDot(d_o_ + at, dq_ + at, size_.width);
    }
    for (float* sum : {dq_, dk_, dv_}) std::fill_n(sum, panel, 0.0f);
    const float* lse =
        args_.lse + (sample * args_.shape.heads + head) * size_.tokens;
    for (int64_t row = 0; row < size_.tokens; row += size_.block) {
      for (int64_t key = 0; key <= row; key += size_.block) {
        FillBlock(lse, row, key);
        MultiplyBlock(row, key);
      }
    }
    AddHead(sample, head);
  }

  int64_t Rows(int64_t first) const {
    return std::min(size_.block, size_.tokens - first);
  }

  // round(p) and round(dS) of query rows from `row` on and keys from `key` on,
  // in blocks of 32 on or below the diagonal; rows behind the end are +0.
  void FillBlock(const float* lse, int64_t row, int64_t key) {
    const int64_t rows = Rows(row);
    for (int64_t i = 0; i < rows; i += kBlock) {
      const int64_t count = std::min(kBlock, rows - i);
      const int64_t columns = Columns(row + i, key);
      const int64_t query = (row + i) * size_.d_stride;
      const int64_t at = i * size_.s_stride;
      BlockProduct<IsAmx32<S>()>(
          count, columns, size_.d_contraction, {q_ + query, size_.d_stride, 1},
          {k_transposed_ + key, size_.t_stride}, {p_ + at, size_.s_stride});
      BlockProduct<IsAmx32<S>()>(count, columns, size_.d_contraction,
                                 {d_o_ + query, size_.d_stride, 1},
                                 {v_transposed_ + key, size_.t_stride},
                                 {ds_ + at, size_.s_stride});
      for (int64_t r = 0; r < kBlock; ++r) {
        if (r < count) {
          FillRow(lse[row + i + r], row + i + r, key, columns, i + r);
        } else {
          const int64_t behind = at + r * size_.s_stride;
          std::fill(p_ + behind, p_ + behind + columns, 0.0f);
          std::fill(ds_ + behind, ds_ + behind + columns, 0.0f);
        }
      }
    }
  }

  // Keys of the block that starts at `key`, cut behind the diagonal's block of
  // 32 for the rows from `row` on. A multiple of 32.
  int64_t Columns(int64_t row, int64_t key) const {
    return std::min(size_.block, row + kBlock - key);
  }

  void FillRow(float lse, int64_t query, int64_t key, int64_t columns,
               int64_t r) {
    float* __restrict p = p_ + r * size_.s_stride;
    float* __restrict ds = ds_ + r * size_.s_stride;
    const int32_t* __restrict segments = segments_.data() + key;
    const int32_t visible = static_cast<int32_t>(query - key);
    const int32_t segment = segments_[query];
    const int32_t count = static_cast<int32_t>(columns);
    const float delta = delta_[query];
    const float scale = size_.scale;
    LS_IVDEP
    for (int32_t j = 0; j < count; ++j) {
      const bool keep = (j <= visible) & (segments[j] == segment);
      // Masked before exp, where a later key's score could overflow it.
      const float exponent = KeepIf(keep, scale * p[j] - lse);
      const float probability = math::Exp(exponent);
      const float gradient = probability * (ds[j] - delta);
      p[j] = KeepIf(keep, Rounded<S>(probability));
      ds[j] = KeepIf(keep, Rounded<S>(gradient));
    }
  }

  // Each product is a sum of its own and added once. Query rows behind the
  // end count in amx32 as the +0 that pads it.
  void MultiplyBlock(int64_t row, int64_t key) {
    const int64_t rows = Rows(row);
    const int64_t ds = size_.d_stride;
    for (int64_t i = 0; i < rows; i += kBlock) {
      const int64_t keys = std::min(Columns(row + i, key), size_.tokens - key);
      BlockProduct<IsAmx32<S>(), true>(
          std::min(kBlock, rows - i), size_.width, Contraction<S>(keys),
          {ds_ + i * size_.s_stride, size_.s_stride, 1}, {k_ + key * ds, ds},
          {dq_ + (row + i) * ds, ds});
    }
    const int64_t keys = Rows(key);
    for (int64_t j = 0; j < keys; j += kBlock) {
      // Rows before the diagonal's block of 32 are skipped.
      const int64_t skip = std::max<int64_t>(0, key + j - row);
      const int64_t count = Contraction<S>(rows) - skip;
      const int64_t at = skip * size_.s_stride + j;
      const int64_t n = std::min(kBlock, keys - j);
      BlockProduct<IsAmx32<S>(), true>(
          n, size_.width, count, {ds_ + at, 1, size_.s_stride},
          {q_ + (row + skip) * ds, ds}, {dk_ + (key + j) * ds, ds});
      BlockProduct<IsAmx32<S>(), true>(
          n, size_.width, count, {p_ + at, 1, size_.s_stride},
          {d_o_ + (row + skip) * ds, ds}, {dv_ + (key + j) * ds, ds});
    }
  }

  // Scales and stores dq, and adds this head's dk and dv to the group's.
  void AddHead(int64_t sample, int64_t head) {
    for (int64_t t = 0; t < size_.tokens; ++t) {
      const int64_t at = t * size_.d_stride;
      const int64_t row = sample * size_.tokens + t;
      S* __restrict dq = static_cast<S*>(args_.out.dq) +
                         row * args_.out.dq_row_stride + head * size_.width;
      LS_IVDEP
      for (int64_t c = 0; c < size_.width; ++c) {
        dq[c] = FromF32<S>(size_.scale * dq_[at + c]);
        dk_sum_[at + c] = dk_sum_[at + c] + size_.scale * dk_[at + c];
        dv_sum_[at + c] = dv_sum_[at + c] + dv_[at + c];
      }
    }
  }

  const AttentionBackwardArgs& args_;
  const AttentionSizes<S> size_;
  PanelMemory memory_;
  std::vector<int32_t> segments_;
  float *q_, *d_o_, *k_;                 // [tokens, width]
  float *k_transposed_, *v_transposed_;  // [width, tokens]
  float *dq_, *dk_, *dv_;                // of one query head, not yet scaled
  float *dk_sum_, *dv_sum_;              // over query heads
  float *p_, *ds_;                       // [key_block, key_block]
  float* delta_;                         // [tokens]
};

template <class S>
void RunBackward(const AttentionBackwardArgs& args, int64_t begin,
                 int64_t end) {
  KvHeadBackward<S> work(args);
  for (int64_t item = begin; item < end; ++item) {
    work.Run(item / args.shape.kv_heads, item % args.shape.kv_heads);
  }
}

}  // namespace

void AttentionBackwardRange(const AttentionBackwardArgs& args, int64_t begin,
                            int64_t end) {
  WithStorage(args.in.dtype, [&](auto storage) {
    RunBackward<decltype(storage)>(args, begin, end);
  });
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
