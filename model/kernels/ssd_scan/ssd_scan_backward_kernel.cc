#include <algorithm>
#include <cstdint>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/math.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/block_product.h"
#include "model/kernels/panel.h"
#include "model/kernels/row_sum.h"
#include "model/kernels/ssd_scan/ssd_chunk.h"
#include "model/kernels/ssd_scan/ssd_scan_kernel.h"
#include "model/kernels/storage.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

// Row i of l = round(lambda K), w = round(lambda W) from w = W, and m = below +
// lambda K W for j < i, else +0; columns [0, end). A function of its own, so
// that restrict holds and the loop is vectorised.
template <class S>
LS_NOINLINE void CausalRow(int32_t i, int32_t end, const float* cumsum,
                           const int32_t* segments, const float* __restrict k,
                           const float* __restrict below, float* __restrict w,
                           float* __restrict l, float* __restrict m) {
  const float cs_i = cumsum[i];
  const int32_t segment = segments[i];
  for (int32_t j = 0; j < end; ++j) {
    const float lambda = Lambda(cs_i, cumsum[j]);
    const bool keep = (j <= i) & (segments[j] == segment);
    const float lambda_k = lambda * k[j];
    const float product = lambda_k * w[j];
    const float lambda_w = lambda * w[j];
    l[j] = KeepIf(keep, Rounded<S>(lambda_k));
    w[j] = KeepIf(keep, Rounded<S>(lambda_w));
    const float sum = below[j] + KeepIf(keep, product);
    m[j] = KeepIf(j < i, sum);
  }
}

// One (sample, group) after another; chunks descending, since the gradient of
// the state comes from behind, and heads ascending inside, since db and dc do.
template <class S>
class GroupBackward {
 public:
  explicit GroupBackward(const SsdBackwardArgs& args)
      : args_(args),
        shape_(args.shape),
        size_(args.shape),
        memory_(PanelFloats(size_)),
        segments_(size_.q_stride) {
    const int64_t qs = size_.q_stride, ps = size_.p_stride, ns = size_.n_stride;
    for (float** panel :
         {&b_, &c_, &b_transposed_, &db_, &dc_, &within_n_, &carried_n_}) {
      *panel = memory_.Take(qs * ns);
    }
    for (float** panel :
         {&x_, &g_, &decayed_g_, &u_, &u_transposed_, &du_, &carried_p_}) {
      *panel = memory_.Take(qs * ps);
    }
    for (float** panel : {&scores_, &w_, &l_, &m_}) {
      *panel = memory_.Take(qs * qs);
    }
    for (float** panel : {&state_, &dstate_, &dstate_transposed_, &entering_}) {
      *panel = memory_.Take(ps * ns);
    }
    for (float** vector : {&decay_.to_end, &decay_.from_start, &da_,
                           &from_ends_, &from_starts_, &ddt_}) {
      *vector = memory_.Take(qs);
    }
    u_row_ = memory_.Take(ps);
    dstates_ = memory_.Take(size_.heads_of_group * ps * ns);
  }

  void Run(int64_t sample, int64_t group) {
    const int64_t first_head = group * size_.heads_of_group;
    for (int64_t index = shape_.chunks() - 1; index >= 0; --index) {
      const Chunk chunk(shape_, index);
      ReadGroup(sample, group, chunk);
      for (int64_t h = 0; h < size_.heads_of_group; ++h) {
        RunHead(sample, first_head + h, index, chunk,
                dstates_ + h * size_.p * size_.n);
      }
      WriteGroup(sample, group, chunk);
    }
  }

 private:
  static int64_t PanelFloats(const SsdSizes<S>& size) {
    const int64_t qs = size.q_stride, ps = size.p_stride, ns = size.n_stride;
    return 7 * qs * ns + 7 * qs * ps + 4 * qs * qs +
           (4 + size.heads_of_group) * ps * ns + 6 * qs + ps;
  }

  void ReadGroup(int64_t sample, int64_t group, const Chunk& chunk) {
    const int64_t row = sample * shape_.tokens + chunk.first;
    ReadPanel(static_cast<const S*>(args_.in.b) + row * args_.in.b_row_stride +
                  group * size_.n,
              args_.in.b_row_stride, chunk.q, chunk.padded, size_.n, b_,
              size_.n_stride);
    ReadPanel(static_cast<const S*>(args_.in.c) + row * args_.in.c_row_stride +
                  group * size_.n,
              args_.in.c_row_stride, chunk.q, chunk.padded, size_.n, c_,
              size_.n_stride);
    TransposePanel(b_, size_.n_stride, chunk.padded, size_.n, b_transposed_,
                   size_.q_stride);
    CausalScores<IsAmx32<S>()>(
        chunk, size_.n_contraction, {c_, size_.n_stride, 1},
        {b_transposed_, size_.q_stride}, {scores_, size_.q_stride});
    carried_segment_ =
        ReadSegments(shape_, args_.in, sample, chunk, segments_.data());
    std::fill(db_, db_ + chunk.q * size_.n_stride, 0.0f);
    std::fill(dc_, dc_ + chunk.q * size_.n_stride, 0.0f);
  }

  void WriteGroup(int64_t sample, int64_t group, const Chunk& chunk) {
    const int64_t row = sample * shape_.tokens + chunk.first;
    WritePanel(db_, size_.n_stride, chunk.q, size_.n,
               static_cast<S*>(args_.out.db) + row * args_.out.db_row_stride +
                   group * size_.n,
               args_.out.db_row_stride);
    WritePanel(dc_, size_.n_stride, chunk.q, size_.n,
               static_cast<S*>(args_.out.dc) + row * args_.out.dc_row_stride +
                   group * size_.n,
               args_.out.dc_row_stride);
  }

  // dstate is G_{c+1} of this head, and becomes G_c.
  void RunHead(int64_t sample, int64_t head, int64_t index, const Chunk& chunk,
               float* dstate) {
    const int64_t row = (sample * shape_.heads + head) * shape_.tokens;
    const float* dt = args_.saved.dt + row + chunk.first;
    const float* cumsum = args_.saved.cumsum + row + chunk.first;
    const float* state =
        args_.saved.states +
        ((sample * shape_.heads + head) * shape_.chunks() + index) * size_.p *
            size_.n;
    const bool last = index + 1 == shape_.chunks();
    if (last) std::fill(dstate, dstate + size_.p * size_.n, 0.0f);
    ComputeDecay(chunk, cumsum, segments_.data(), carried_segment_, decay_);
    ReadHead(sample, head, dt, chunk);
    ReadStates(state, dstate);
    FillCausal(cumsum, chunk);
    AddToB(last, chunk);
    AddToC(index == 0, chunk);
    ComputeDu(last, dt, chunk);
    ComputeDa(RowDot(dstate, state, size_.p * size_.n), chunk);
    WriteHead(sample, head, dt, chunk);
    if (index > 0) RetreatState(dstate, chunk);
  }

  // x, g, exp(cs) g, u and its transpose; operands rounded.
  void ReadHead(int64_t sample, int64_t head, const float* dt,
                const Chunk& chunk) {
    const int64_t row = sample * shape_.tokens + chunk.first;
    const int64_t ps = size_.p_stride;
    ReadPanel(static_cast<const S*>(args_.in.x) + row * args_.in.x_row_stride +
                  head * size_.p,
              args_.in.x_row_stride, chunk.q, chunk.padded, size_.p, x_, ps);
    ReadPanel(static_cast<const S*>(args_.dy) + row * args_.dy_row_stride +
                  head * size_.p,
              args_.dy_row_stride, chunk.q, chunk.padded, size_.p, g_, ps);
    for (int64_t j = 0; j < chunk.padded; ++j) {
      const float step = j < chunk.q ? dt[j] : 0.0f;
      const float decay = j < chunk.q ? decay_.from_start[j] : 0.0f;
      LS_IVDEP
      for (int64_t c = 0; c < size_.p; ++c) {
        u_[j * ps + c] = Rounded<S>(step * x_[j * ps + c]);
        decayed_g_[j * ps + c] = Rounded<S>(decay * g_[j * ps + c]);
      }
    }
    TransposePanel(u_, ps, chunk.padded, size_.p, u_transposed_,
                   size_.q_stride);
  }

  // H_c and G_{c+1} as operands.
  void ReadStates(const float* state, const float* dstate) {
    for (int64_t r = 0; r < size_.p; ++r) {
      const int64_t panel_row = r * size_.n_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.n; ++c) {
        state_[panel_row + c] = Rounded<S>(state[r * size_.n + c]);
        dstate_[panel_row + c] = Rounded<S>(dstate[r * size_.n + c]);
      }
    }
    TransposePanel(dstate_, size_.n_stride, size_.p, size_.n,
                   dstate_transposed_, size_.p_stride);
  }

  // l = round(lambda K), w = round(lambda W), +0 where masked; m = the sum of
  // lambda K W over the rows from i on.
  void FillCausal(const float* cumsum, const Chunk& chunk) {
    CausalScores<IsAmx32<S>()>(
        chunk, size_.p_contraction, {g_, size_.p_stride, 1},
        {u_transposed_, size_.q_stride}, {w_, size_.q_stride});
    for (int64_t i = chunk.q; i < chunk.padded; ++i) {
      std::fill(l_ + i * size_.q_stride, l_ + (i + 1) * size_.q_stride, 0.0f);
      std::fill(w_ + i * size_.q_stride, w_ + (i + 1) * size_.q_stride, 0.0f);
    }
    std::fill(da_, da_ + size_.q_stride, 0.0f);
    for (int64_t i = chunk.q - 1; i >= 0; --i) FillCausalRow(cumsum, chunk, i);
  }

  void FillCausalRow(const float* cumsum, const Chunk& chunk, int64_t i) {
    const int64_t at = i * size_.q_stride;
    const float* below = i + 1 < chunk.q ? m_ + at + size_.q_stride : da_;
    const int64_t end = std::min(CausalEnd(i), chunk.q);
    CausalRow<S>(static_cast<int32_t>(i), static_cast<int32_t>(end), cumsum,
                 segments_.data(), scores_ + at, below, w_ + at, l_ + at,
                 m_ + at);
    std::fill(l_ + at + end, l_ + at + CausalEnd(i), 0.0f);
    std::fill(w_ + at + end, w_ + at + CausalEnd(i), 0.0f);
    std::fill(m_ + at + end, m_ + at + CausalEnd(i), 0.0f);
  }

  // db_j += sum over i of (lambda W)_ij C_i + w_j (G^T u_j).
  void AddToB(bool last, const Chunk& chunk) {
    const int64_t ns = size_.n_stride;
    CausalTransposedProduct<S>(chunk, size_.n, w_, size_.q_stride, {c_, ns},
                               {within_n_, ns});
    StateProduct<S>(last, chunk, size_.n, size_.p_contraction,
                    {u_, size_.p_stride, 1}, {dstate_, ns}, {carried_n_, ns});
    AddScaled(chunk, decay_.to_end, db_);
  }

  // dc_i += sum over j of (lambda W)_ij B_j + exp(cs_i) (H^T g_i); carried_n_
  // keeps H^T g.
  void AddToC(bool first, const Chunk& chunk) {
    const int64_t ns = size_.n_stride;
    CausalProduct<S>(chunk, size_.n, w_, size_.q_stride, {b_, ns},
                     {within_n_, ns});
    StateProduct<S>(first, chunk, size_.n, size_.p_contraction,
                    {g_, size_.p_stride, 1}, {state_, ns}, {carried_n_, ns});
    AddScaled(chunk, decay_.from_start, dc_);
  }

  void AddScaled(const Chunk& chunk, const float* scale, float* target) {
    for (int64_t i = 0; i < chunk.q; ++i) {
      const float* __restrict within = within_n_ + i * size_.n_stride;
      const float* __restrict carried = carried_n_ + i * size_.n_stride;
      float* __restrict to = target + i * size_.n_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.n; ++c) {
        to[c] = to[c] + (within[c] + scale[i] * carried[c]);
      }
    }
  }

  // du_j, and from_ends_j = w_j (u_j . (G B_j)).
  void ComputeDu(bool last, const float* dt, const Chunk& chunk) {
    const int64_t ps = size_.p_stride;
    CausalTransposedProduct<S>(chunk, size_.p, l_, size_.q_stride, {g_, ps},
                               {du_, ps});
    StateProduct<S>(last, chunk, size_.p, size_.n_contraction,
                    {b_, size_.n_stride, 1}, {dstate_transposed_, ps},
                    {carried_p_, ps});
    for (int64_t j = 0; j < chunk.q; ++j) {
      float* __restrict du = du_ + j * ps;
      float* __restrict u = u_row_;
      const float* __restrict carried = carried_p_ + j * ps;
      const float* __restrict x = x_ + j * ps;
      const float to_end = decay_.to_end[j];
      LS_IVDEP
      for (int64_t c = 0; c < size_.p; ++c) {
        du[c] = du[c] + to_end * carried[c];
        u[c] = dt[j] * x[c];
      }
      from_ends_[j] = to_end * RowDot(u, carried, size_.p);
    }
  }

  // The four disjoint parts of da_k (ssd_scan.h).
  void ComputeDa(float state_dot, const Chunk& chunk) {
    for (int64_t i = 0; i < chunk.q; ++i) {
      const int64_t at = i * size_.n_stride;
      from_starts_[i] =
          decay_.from_start[i] * RowDot(c_ + at, carried_n_ + at, size_.n);
    }
    float later = 0.0f;
    for (int64_t k = chunk.q - 1; k >= 0; --k) {
      later = later + from_starts_[k];
      da_[k] = RowSum(m_ + k * size_.q_stride, CausalEnd(k)) + later;
    }
    const float whole = decay_.carry * state_dot;
    float earlier = 0.0f;
    for (int64_t k = 0; k < chunk.q; ++k) {
      da_[k] = (da_[k] + earlier) + whole;
      earlier = earlier + from_ends_[k];
    }
  }

  // dx, ddt_raw, and the summands of the vectors' gradients.
  void WriteHead(int64_t sample, int64_t head, const float* dt,
                 const Chunk& chunk) {
    const int64_t ps = size_.p_stride;
    const float a = -math::Exp(args_.in.a_log[head]);
    const float d = args_.in.d[head];
    for (int64_t i = 0; i < chunk.q; ++i) {
      const int64_t row = sample * shape_.tokens + chunk.first + i;
      const float* __restrict x = x_ + i * ps;
      const float* __restrict g = g_ + i * ps;
      const float* __restrict du = du_ + i * ps;
      S* __restrict dx = static_cast<S*>(args_.out.dx) +
                         row * args_.out.dx_row_stride + head * size_.p;
      const float step = dt[i];
      LS_IVDEP
      for (int64_t c = 0; c < size_.p; ++c) {
        dx[c] = FromF32<S>(d * g[c] + step * du[c]);
      }
      const int64_t term = row * shape_.heads + head;
      args_.terms.g_x[term] = RowDot(g, x, size_.p);
      args_.terms.dt_da[term] = step * da_[i];
      ddt_[i] = RowDot(x, du, size_.p) + a * da_[i];
    }
    WriteStepGradient(sample, head, chunk);
  }

  void WriteStepGradient(int64_t sample, int64_t head, const Chunk& chunk) {
    const float bias = args_.in.dt_bias[head];
    const int64_t first = sample * shape_.tokens + chunk.first;
    const S* raw = static_cast<const S*>(args_.in.dt_raw) + head;
    S* out = static_cast<S*>(args_.out.ddt_raw) + head;
    for (int64_t i = 0; i < chunk.q; ++i) {
      from_starts_[i] = ToF32(raw[(first + i) * args_.in.dt_row_stride]) + bias;
    }
    LS_IVDEP
    for (int64_t i = 0; i < chunk.q; ++i) {
      const float v = from_starts_[i];
      const float slope = math::Sigmoid(v);
      ddt_[i] = ddt_[i] * (v > 20.0f ? 1.0f : slope);
    }
    for (int64_t i = 0; i < chunk.q; ++i) {
      args_.terms.ddt_raw[(first + i) * shape_.heads + head] = ddt_[i];
      out[(first + i) * args_.out.ddt_row_stride] = FromF32<S>(ddt_[i]);
    }
  }

  // G_c = exp(cs_Q) G_{c+1} + sum over i of (exp(cs_i) g_i) C_i^T.
  void RetreatState(float* dstate, const Chunk& chunk) {
    BlockProduct<IsAmx32<S>()>(size_.p, size_.n, Contraction<S>(chunk.q),
                               {decayed_g_, 1, size_.p_stride},
                               {c_, size_.n_stride},
                               {entering_, size_.n_stride});
    for (int64_t r = 0; r < size_.p; ++r) {
      float* __restrict to = dstate + r * size_.n;
      const float* __restrict entering = entering_ + r * size_.n_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.n; ++c) {
        to[c] = decay_.carry * to[c] + entering[c];
      }
    }
  }

  const SsdBackwardArgs& args_;
  const SsdShape& shape_;
  const SsdSizes<S> size_;
  PanelMemory memory_;
  std::vector<int32_t> segments_;
  int32_t carried_segment_ = 0;
  Decay decay_{};
  float *b_, *c_, *b_transposed_, *db_, *dc_;                // [q, n] or [n, q]
  float *within_n_, *carried_n_;                             // [q, n]
  float *x_, *g_, *decayed_g_, *u_, *u_transposed_;          // [q, p] or [p, q]
  float *du_, *carried_p_;                                   // [q, p]
  float *scores_, *w_, *l_, *m_;                             // [q, q]
  float *state_, *dstate_, *dstate_transposed_, *entering_;  // [p, n]
  float *da_, *from_ends_, *from_starts_, *ddt_;             // [q]
  float* u_row_;                                             // [p]
  float* dstates_;  // G_{c+1} of every head of the group, [heads, p, n]
};

template <class S>
void RunBackward(const SsdBackwardArgs& args, int64_t begin, int64_t end) {
  GroupBackward<S> work(args);
  for (int64_t item = begin; item < end; ++item) {
    work.Run(item / args.shape.groups, item % args.shape.groups);
  }
}

}  // namespace

void SsdBackwardRange(const SsdBackwardArgs& args, int64_t begin, int64_t end) {
  WithStorage(args.in.dtype, [&](auto storage) {
    RunBackward<decltype(storage)>(args, begin, end);
  });
}

void SsdLeafRange(const SsdBackwardArgs& args, int64_t begin, int64_t end) {
  const int64_t heads = args.shape.heads;
  const int64_t rows = args.out.samples_per_leaf * args.shape.tokens;
  for (int64_t leaf = begin; leaf < end; ++leaf) {
    const int64_t from = leaf * rows * heads;
    float* da_log = args.out.da_log + leaf * heads;
    OrderedColumnSum(args.terms.ddt_raw + from, rows, heads, heads,
                     args.out.ddt_bias + leaf * heads);
    OrderedColumnSum(args.terms.g_x + from, rows, heads, heads,
                     args.out.dd + leaf * heads);
    OrderedColumnSum(args.terms.dt_da + from, rows, heads, heads, da_log);
    for (int64_t h = 0; h < heads; ++h) {
      da_log[h] = -math::Exp(args.in.a_log[h]) * da_log[h];
    }
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
