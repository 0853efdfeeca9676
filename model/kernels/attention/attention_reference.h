// The contract of attention.h, one element at a time: what every kernel must
// meet byte for byte. For tests; shares no code with the kernels but the
// elementary functions, the conversions and the ordered sums.

#ifndef MODEL_KERNELS_ATTENTION_ATTENTION_REFERENCE_H_
#define MODEL_KERNELS_ATTENTION_ATTENTION_REFERENCE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "determinism/float_env.h"
#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/attention/attention_testing.h"
#include "model/kernels/product_reference.h"

namespace lockstep {

// One (sample, query head).
class AttentionReference {
 public:
  AttentionReference(const AttentionCase& problem, int64_t sample, int64_t head)
      : problem_(problem),
        s_(problem.shape),
        dtype_(problem.q.dtype()),
        sample_(sample),
        head_(head),
        kv_head_(head * s_.kv_heads / s_.heads),
        scale_(1.0f / std::sqrt(static_cast<float>(s_.head_dim))),
        o(s_.tokens * s_.head_dim),
        lse(s_.tokens),
        dq(o),
        dk(o),
        dv(o),
        p_(s_.tokens * s_.tokens, 0.0f),
        ds_(p_) {
    for (int64_t i = 0; i < s_.tokens; ++i) ForwardRow(i);
    for (int64_t i = 0; i < s_.tokens; ++i) FillRow(i);
    for (int64_t i = 0; i < s_.tokens; ++i) BackwardRow(i);
  }

 private:
  const AttentionCase& problem_;
  const AttentionShape& s_;
  const DType dtype_;
  const int64_t sample_, head_, kv_head_;
  const float scale_;

 public:
  std::vector<float> o, lse, dq, dk, dv;  // dk, dv: this head's part, fp32

 private:
  std::vector<float> p_, ds_;  // [tokens, tokens]

  int64_t Row(int64_t t) const { return sample_ * s_.tokens + t; }
  float Q(int64_t t, int64_t c) const {
    return problem_.q.Get(Row(t), head_ * s_.head_dim + c);
  }
  float K(int64_t t, int64_t c) const {
    return problem_.k.Get(Row(t), kv_head_ * s_.head_dim + c);
  }
  float V(int64_t t, int64_t c) const {
    return problem_.v.Get(Row(t), kv_head_ * s_.head_dim + c);
  }
  float DO(int64_t t, int64_t c) const {
    return problem_.d_o.Get(Row(t), head_ * s_.head_dim + c);
  }
  bool Visible(int64_t i, int64_t j) const {
    return j <= i && (problem_.segments.empty() ||
                      problem_.segments[Row(i)] == problem_.segments[Row(j)]);
  }
  float Score(int64_t i, int64_t j) const {
    return scale_ * ProductReference(
                        dtype_, 0, s_.head_dim,
                        [&](int64_t c) { return Q(i, c); },
                        [&](int64_t c) { return K(j, c); });
  }
  // One past the last key or query of the block that begins at `first`.
  int64_t BlockEnd(int64_t first) const {
    return std::min(s_.tokens, first + s_.key_block);
  }

  void ForwardRow(int64_t i) {
    float m = -std::numeric_limits<float>::infinity(), l = 0.0f;
    std::vector<float> acc(s_.head_dim, 0.0f);
    for (int64_t first = 0; first <= i; first += s_.key_block) {
      const int64_t keys = BlockEnd(first) - first;
      std::vector<float> scores(keys, -std::numeric_limits<float>::infinity());
      for (int64_t j = 0; j < keys; ++j) {
        if (Visible(i, first + j)) scores[j] = Score(i, first + j);
      }
      const float next = OrderedMaxStep(m, OrderedMax(scores.data(), keys));
      // No key seen yet. +inf and NaN are scores, and make the row NaN.
      if (next == -std::numeric_limits<float>::infinity()) continue;
      const float alpha = math::Exp(m - next);
      std::vector<float> p(keys);
      for (int64_t j = 0; j < keys; ++j) p[j] = math::Exp(scores[j] - next);
      l = alpha * l + OrderedSum(p.data(), keys);
      const int64_t end = std::min(keys, i / 32 * 32 + 32 - first);
      for (int64_t c = 0; c < s_.head_dim; ++c) {
        const float sum = ProductReference(
            dtype_, 0, end, [&](int64_t j) { return p[j]; },
            [&](int64_t j) { return V(first + j, c); });
        acc[c] = alpha * acc[c] + sum;
      }
      m = next;
    }
    for (int64_t c = 0; c < s_.head_dim; ++c) {
      o[i * s_.head_dim + c] = RoundTo(dtype_, acc[c] / l);
    }
    lse[i] = m + math::Log(l);
  }

  void FillRow(int64_t i) {
    std::vector<float> row(s_.head_dim);
    for (int64_t c = 0; c < s_.head_dim; ++c) row[c] = DO(i, c);
    const float delta =
        OrderedDot(row.data(), &o[i * s_.head_dim], s_.head_dim);
    for (int64_t j = 0; j <= i; ++j) {
      if (!Visible(i, j)) continue;
      const float p = math::Exp(Score(i, j) - lse[i]);
      const float dp = ProductReference(
          dtype_, 0, s_.head_dim, [&](int64_t c) { return DO(i, c); },
          [&](int64_t c) { return V(j, c); });
      p_[i * s_.tokens + j] = p;
      ds_[i * s_.tokens + j] = p * (dp - delta);
    }
  }

  void BackwardRow(int64_t t) {
    for (int64_t c = 0; c < s_.head_dim; ++c) {
      float q_sum = 0.0f, k_sum = 0.0f, v_sum = 0.0f;
      for (int64_t first = 0; first <= t; first += s_.key_block) {
        const int64_t end = std::min(BlockEnd(first), t / 32 * 32 + 32);
        q_sum = q_sum + ProductReference(
                            dtype_, first, end,
                            [&](int64_t j) { return ds_[t * s_.tokens + j]; },
                            [&](int64_t j) { return K(j, c); });
      }
      const int64_t own = t / s_.key_block * s_.key_block;
      for (int64_t first = own; first < s_.tokens; first += s_.key_block) {
        const int64_t begin = std::max(first, t / 32 * 32);
        const int64_t end = BlockEnd(first);
        k_sum = k_sum + ProductReference(
                            dtype_, begin, end,
                            [&](int64_t i) { return ds_[i * s_.tokens + t]; },
                            [&](int64_t i) { return Q(i, c); });
        v_sum = v_sum + ProductReference(
                            dtype_, begin, end,
                            [&](int64_t i) { return p_[i * s_.tokens + t]; },
                            [&](int64_t i) { return DO(i, c); });
      }
      dq[t * s_.head_dim + c] = RoundTo(dtype_, scale_ * q_sum);
      dk[t * s_.head_dim + c] = scale_ * k_sum;
      dv[t * s_.head_dim + c] = v_sum;
    }
  }
};

// All heads, in the layout of RunAttention.
inline NamedTensors ReferenceAttention(const AttentionCase& problem) {
  const ScopedFloatEnv strict;
  const AttentionShape& s = problem.shape;
  const int64_t rows = s.batch * s.tokens, d = s.head_dim;
  std::vector<float> o(rows * s.heads * d), dq(o), lse;
  std::vector<float> dk(rows * s.kv_heads * d, 0.0f), dv(dk);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const AttentionReference one(problem, b, h);
      lse.insert(lse.end(), one.lse.begin(), one.lse.end());
      for (int64_t t = 0; t < s.tokens; ++t) {
        const int64_t row = b * s.tokens + t;
        const int64_t kv = (row * s.kv_heads + h * s.kv_heads / s.heads) * d;
        for (int64_t c = 0; c < d; ++c) {
          o[(row * s.heads + h) * d + c] = one.o[t * d + c];
          dq[(row * s.heads + h) * d + c] = one.dq[t * d + c];
          dk[kv + c] = dk[kv + c] + one.dk[t * d + c];
          dv[kv + c] = dv[kv + c] + one.dv[t * d + c];
        }
      }
    }
  }
  for (float& value : dk) value = RoundTo(problem.q.dtype(), value);
  for (float& value : dv) value = RoundTo(problem.q.dtype(), value);
  return {{"o", o}, {"lse", lse}, {"q", dq}, {"k", dk}, {"v", dv}};
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_ATTENTION_ATTENTION_REFERENCE_H_
