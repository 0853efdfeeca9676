#include <algorithm>
#include <cstdint>
#include <limits>
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

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// One (sample, key/value head) after another; query rows by 32.
template <class S>
class KvHeadForward {
 public:
  explicit KvHeadForward(const AttentionForwardArgs& args)
      : args_(args),
        size_(args.shape),
        memory_(2 * size_.t_stride * size_.d_stride +
                2 * kBlock * size_.d_stride + kBlock * size_.s_stride +
                2 * kBlock),
        segments_(size_.t_stride) {
    k_transposed_ = memory_.Take(size_.d_stride * size_.t_stride);
    v_ = memory_.Take(size_.t_stride * size_.d_stride);
    q_ = memory_.Take(kBlock * size_.d_stride);
    sum_ = memory_.Take(kBlock * size_.d_stride);
    scores_ = memory_.Take(kBlock * size_.s_stride);
    max_ = memory_.Take(kBlock);
    norm_ = memory_.Take(kBlock);
  }

  void Run(int64_t sample, int64_t kv_head) {
    ReadKeysAndValues(sample, kv_head);
    for (int64_t h = 0; h < size_.heads_of_kv; ++h) {
      const int64_t head = kv_head * size_.heads_of_kv + h;
      for (int64_t row = 0; row < size_.tokens; row += kBlock) {
        RunRows(sample, head, row, std::min(kBlock, size_.tokens - row));
      }
    }
  }

 private:
  void ReadKeysAndValues(int64_t sample, int64_t kv_head) {
    const int64_t row = sample * size_.tokens;
    const int64_t column = kv_head * size_.width;
    // v_ serves as room for the keys before they are transposed.
    ReadPanel(static_cast<const S*>(args_.in.k) + row * args_.in.k_row_stride +
                  column,
              args_.in.k_row_stride, size_.tokens, size_.t_stride, size_.width,
              v_, size_.d_stride);
    TransposePanel(v_, size_.d_stride, size_.t_stride, size_.width,
                   k_transposed_, size_.t_stride);
    ReadPanel(static_cast<const S*>(args_.in.v) + row * args_.in.v_row_stride +
                  column,
              args_.in.v_row_stride, size_.tokens, size_.t_stride, size_.width,
              v_, size_.d_stride);
    ReadDocuments(args_.shape, args_.in, sample, size_.t_stride,
                  segments_.data());
  }

  void RunRows(int64_t sample, int64_t head, int64_t first, int64_t rows) {
    const int64_t row = sample * size_.tokens + first;
    ReadPanel(static_cast<const S*>(args_.in.q) + row * args_.in.q_row_stride +
                  head * size_.width,
              args_.in.q_row_stride, rows, rows, size_.width, q_,
              size_.d_stride);
    std::fill(sum_, sum_ + rows * size_.d_stride, 0.0f);
    std::fill(max_, max_ + rows, kMinusInfinity);
    std::fill(norm_, norm_ + rows, 0.0f);
    for (int64_t key = 0; key < first + rows; key += size_.block) {
      AddKeyBlock(first, rows, key);
    }
    WriteRows(sample, head, first, rows);
  }

  // Keys [key, key + block), cut behind the diagonal's block of 32.
  void AddKeyBlock(int64_t first, int64_t rows, int64_t key) {
    const int64_t columns = std::min(size_.block, first + kBlock - key);
    BlockProduct<IsAmx32<S>()>(
        rows, columns, size_.d_contraction, {q_, size_.d_stride, 1},
        {k_transposed_ + key, size_.t_stride}, {scores_, size_.s_stride});
    for (int64_t r = 0; r < rows; ++r) Exponentiate(first + r, key, columns, r);
    const int64_t keys = std::min(columns, size_.tokens - key);
    BlockProduct<IsAmx32<S>(), true>(
        rows, size_.width, Contraction<S>(keys), {scores_, size_.s_stride, 1},
        {v_ + key * size_.d_stride, size_.d_stride}, {sum_, size_.d_stride});
  }

  // Turns a row of raw scores into round(p), and moves m, l and acc on. Columns
  // behind the diagonal, and so behind the sample's end, become +0.
  void Exponentiate(int64_t query, int64_t key, int64_t columns, int64_t r) {
    float* __restrict s = scores_ + r * size_.s_stride;
    const int32_t* __restrict segments = segments_.data() + key;
    const int32_t visible = static_cast<int32_t>(query - key);
    const int32_t segment = segments_[query];
    const int32_t count = static_cast<int32_t>(columns);
    const float scale = size_.scale;
    LS_IVDEP
    for (int32_t j = 0; j < count; ++j) {
      const bool keep = (j <= visible) & (segments[j] == segment);
      const float score = scale * s[j];
      s[j] = keep ? score : kMinusInfinity;
    }
    const float block_max = RowMax(s, columns);
    const float new_max = max_[r] < block_max ? block_max : max_[r];
    // A row that has seen no key yet: exp(-inf - 0) is +0.
    const float shift = new_max == kMinusInfinity ? 0.0f : new_max;
    const float alpha = math::Exp(max_[r] - shift);
    LS_IVDEP
    for (int32_t j = 0; j < count; ++j) s[j] = math::Exp(s[j] - shift);
    norm_[r] = alpha * norm_[r] + RowSum(s, columns);
    max_[r] = new_max;
    LS_IVDEP
    for (int32_t j = 0; j < count; ++j) s[j] = Rounded<S>(s[j]);
    float* __restrict sum = sum_ + r * size_.d_stride;
    LS_IVDEP
    for (int64_t c = 0; c < size_.width; ++c) sum[c] = alpha * sum[c];
  }

  void WriteRows(int64_t sample, int64_t head, int64_t first, int64_t rows) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = sample * size_.tokens + first + r;
      S* __restrict o = static_cast<S*>(args_.o) + row * args_.o_row_stride +
                        head * size_.width;
      const float* __restrict sum = sum_ + r * size_.d_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.width; ++c) {
        o[c] = FromF32<S>(sum[c] / norm_[r]);
      }
      args_
          .lse[(sample * args_.shape.heads + head) * size_.tokens + first + r] =
          max_[r] + math::Log(norm_[r]);
    }
  }

  const AttentionForwardArgs& args_;
  const AttentionSizes<S> size_;
  PanelMemory memory_;
  std::vector<int32_t> segments_;
  float* k_transposed_;  // [width, tokens]
  float* v_;             // [tokens, width]
  float *q_, *sum_;      // [32, width]; sum_ is acc
  float* scores_;        // [32, key_block]
  float *max_, *norm_;   // [32]; m and l
};

template <class S>
void RunForward(const AttentionForwardArgs& args, int64_t begin, int64_t end) {
  KvHeadForward<S> work(args);
  for (int64_t item = begin; item < end; ++item) {
    work.Run(item / args.shape.kv_heads, item % args.shape.kv_heads);
  }
}

}  // namespace

void AttentionForwardRange(const AttentionForwardArgs& args, int64_t begin,
                           int64_t end) {
  WithStorage(args.in.dtype, [&](auto storage) {
    RunForward<decltype(storage)>(args, begin, end);
  });
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
