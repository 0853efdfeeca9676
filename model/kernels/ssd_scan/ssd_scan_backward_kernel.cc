#include <algorithm>
#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/math.h"
#include "model/kernels/block_product.h"
#include "model/kernels/panel.h"
#include "model/kernels/row_sum.h"
#include "model/kernels/ssd_scan/ssd_backward_panels.h"
#include "model/kernels/ssd_scan/ssd_chunk.h"
#include "model/kernels/ssd_scan/ssd_group.h"
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
        group_(size_, memory_),
        in_(size_, memory_) {
    const int64_t qs = size_.q_stride, ps = size_.p_stride, ns = size_.n_stride;
    for (float** panel : {&db_, &dc_, &within_n_, &carried_n_}) {
      *panel = memory_.Take(qs * ns);
    }
    du_ = memory_.Take(qs * ps);
    carried_p_ = memory_.Take(qs * ps);
    for (float** panel : {&w_, &l_, &m_}) *panel = memory_.Take(qs * qs);
    for (float** vector : {&da_, &from_ends_, &from_starts_, &ddt_}) {
      *vector = memory_.Take(qs);
    }
    entering_ = memory_.Take(ps * ns);
    u_row_ = memory_.Take(ps);
    dstates_ = memory_.Take(size_.heads_of_group * ps * ns);
  }

  void Run(int64_t sample, int64_t group) {
    const int64_t first_head = group * size_.heads_of_group;
    for (int64_t index = shape_.chunks() - 1; index >= 0; --index) {
      const Chunk chunk(shape_, index);
      group_.Read(shape_, args_.in, size_, sample, group, chunk);
      std::fill(db_, db_ + chunk.q * size_.n_stride, 0.0f);
      std::fill(dc_, dc_ + chunk.q * size_.n_stride, 0.0f);
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
    return GroupPanels<S>::Floats(size) + BackwardPanels<S>::Floats(size) +
           qs * (4 * ns + 2 * ps + 3 * qs + 4) +
           (1 + size.heads_of_group) * ps * ns + ps;
  }

  void WriteGroup(int64_t sample, int64_t group, const Chunk& chunk) {
    const SsdGradients& out = args_.out;
    WritePanel(db_, size_.n_stride, chunk.q, size_.n,
               PartOf<S>(out.db, out.db_row_stride, shape_, sample, chunk,
                         group * size_.n),
               out.db_row_stride);
    WritePanel(dc_, size_.n_stride, chunk.q, size_.n,
               PartOf<S>(out.dc, out.dc_row_stride, shape_, sample, chunk,
                         group * size_.n),
               out.dc_row_stride);
  }

  // dstate is G_{c+1} of this head, and becomes G_c.
  void RunHead(int64_t sample, int64_t head, int64_t index, const Chunk& chunk,
               float* dstate) {
    const float* dt = TokensOf(args_.saved.dt, shape_, sample, head, chunk);
    const float* cumsum =
        TokensOf(args_.saved.cumsum, shape_, sample, head, chunk);
    const float* state = StateOf(args_.saved, shape_, sample, head, index);
    const bool last = index + 1 == shape_.chunks();
    if (last) std::fill(dstate, dstate + size_.p * size_.n, 0.0f);
    ComputeDecay(chunk, cumsum, group_.segments.data(), group_.carried_segment,
                 in_.decay);
    in_.ReadHead(args_, size_, sample, head, dt, chunk);
    in_.ReadStates(size_, state, dstate);
    FillCausal(cumsum, chunk);
    AddToB(last, chunk);
    AddToC(index == 0, chunk);
    ComputeDu(last, dt, chunk);
    ComputeDa(RowDot(dstate, state, size_.p * size_.n), chunk);
    WriteHead(sample, head, dt, chunk);
    if (index > 0) RetreatState(dstate, chunk);
  }

  // l = round(lambda K), w = round(lambda W), +0 where masked; m = the sum of
  // lambda K W over the rows from i on.
  void FillCausal(const float* cumsum, const Chunk& chunk) {
    CausalScores<IsAmx32<S>()>(
        chunk, size_.p_contraction, {in_.g, size_.p_stride, 1},
        {in_.u_transposed, size_.q_stride}, {w_, size_.q_stride});
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
                 group_.segments.data(), group_.scores + at, below, w_ + at,
                 l_ + at, m_ + at);
    std::fill(l_ + at + end, l_ + at + CausalEnd(i), 0.0f);
    std::fill(w_ + at + end, w_ + at + CausalEnd(i), 0.0f);
    std::fill(m_ + at + end, m_ + at + CausalEnd(i), 0.0f);
  }

  // db_j += sum over i of (lambda W)_ij C_i + w_j (G^T u_j).
  void AddToB(bool last, const Chunk& chunk) {
    const int64_t ns = size_.n_stride;
    CausalTransposedProduct<S>(chunk, size_.n, w_, size_.q_stride,
                               {group_.c, ns}, {within_n_, ns});
    StateProduct<S>(last, chunk, size_.n, size_.p_contraction,
                    {in_.u, size_.p_stride, 1}, {in_.dstate, ns},
                    {carried_n_, ns});
    AddScaled(chunk, in_.decay.to_end, db_);
  }

  // dc_i += sum over j of (lambda W)_ij B_j + exp(cs_i) (H^T g_i); carried_n_
  // keeps H^T g.
  void AddToC(bool first, const Chunk& chunk) {
    const int64_t ns = size_.n_stride;
    CausalProduct<S>(chunk, size_.n, w_, size_.q_stride, {group_.b, ns},
                     {within_n_, ns});
    StateProduct<S>(first, chunk, size_.n, size_.p_contraction,
                    {in_.g, size_.p_stride, 1}, {in_.state, ns},
                    {carried_n_, ns});
    AddScaled(chunk, in_.decay.from_start, dc_);
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
    CausalTransposedProduct<S>(chunk, size_.p, l_, size_.q_stride, {in_.g, ps},
                               {du_, ps});
    StateProduct<S>(last, chunk, size_.p, size_.n_contraction,
                    {group_.b, size_.n_stride, 1}, {in_.dstate_transposed, ps},
                    {carried_p_, ps});
    for (int64_t j = 0; j < chunk.q; ++j) {
      float* __restrict du = du_ + j * ps;
      float* __restrict u = u_row_;
      const float* __restrict carried = carried_p_ + j * ps;
      const float* __restrict x = in_.x + j * ps;
      const float to_end = in_.decay.to_end[j];
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
      from_starts_[i] = in_.decay.from_start[i] *
                        RowDot(group_.c + at, carried_n_ + at, size_.n);
    }
    float later = 0.0f;
    for (int64_t k = chunk.q - 1; k >= 0; --k) {
      later = later + from_starts_[k];
      da_[k] = RowSum(m_ + k * size_.q_stride, CausalEnd(k)) + later;
    }
    const float whole = in_.decay.carry * state_dot;
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
      const float* __restrict x = in_.x + i * ps;
      const float* __restrict g = in_.g + i * ps;
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
                               {in_.decayed_g, 1, size_.p_stride},
                               {group_.c, size_.n_stride},
                               {entering_, size_.n_stride});
    for (int64_t r = 0; r < size_.p; ++r) {
      float* __restrict to = dstate + r * size_.n;
      const float* __restrict entering = entering_ + r * size_.n_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.n; ++c) {
        to[c] = in_.decay.carry * to[c] + entering[c];
      }
    }
  }

  const SsdBackwardArgs& args_;
  const SsdShape& shape_;
  const SsdSizes<S> size_;
  PanelMemory memory_;
  GroupPanels<S> group_;
  BackwardPanels<S> in_;
  float *db_, *dc_;                        // [q, n], sums over heads
  float *within_n_, *carried_n_;           // [q, n]
  float *du_, *carried_p_;                 // [q, p]
  float *w_, *l_, *m_;                     // [q, q]
  float *da_, *from_ends_, *from_starts_;  // [q]
  float* ddt_;                             // [q]
  float* entering_;                        // [p, n]
  float* u_row_;                           // [p]
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

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
