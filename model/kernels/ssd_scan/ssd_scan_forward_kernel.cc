#include <algorithm>
#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/math.h"
#include "model/kernels/block_product.h"
#include "model/kernels/panel.h"
#include "model/kernels/ssd_scan/ssd_chunk.h"
#include "model/kernels/ssd_scan/ssd_group.h"
#include "model/kernels/ssd_scan/ssd_scan_kernel.h"
#include "model/kernels/storage.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

// Row i of round(lambda K), columns [0, end). A function of its own, so that
// restrict holds and the loop is vectorised.
template <class S>
LS_NOINLINE void LambdaRow(int32_t i, int32_t end, const float* cumsum,
                           const int32_t* segments, const float* __restrict k,
                           float* __restrict l) {
  const float cs_i = cumsum[i];
  const int32_t segment = segments[i];
  for (int32_t j = 0; j < end; ++j) {
    const float value = Rounded<S>(Lambda(cs_i, cumsum[j]) * k[j]);
    const bool keep = (j <= i) & (segments[j] == segment);
    l[j] = KeepIf(keep, value);
  }
}

// One (sample, group) after another; the panels are reused.
template <class S>
class GroupForward {
 public:
  explicit GroupForward(const SsdForwardArgs& args)
      : args_(args),
        shape_(args.shape),
        size_(args.shape),
        memory_(PanelFloats(size_)),
        group_(size_, memory_) {
    const int64_t qs = size_.q_stride, ps = size_.p_stride, ns = size_.n_stride;
    l_ = memory_.Take(qs * qs);
    for (float** panel : {&x_, &u_, &decayed_u_, &within_, &carried_}) {
      *panel = memory_.Take(qs * ps);
    }
    entering_ = memory_.Take(ps * ns);
    state_transposed_ = memory_.Take(ns * ps);
    decay_.to_end = memory_.Take(qs);
    decay_.from_start = memory_.Take(qs);
  }

  void Run(int64_t sample, int64_t group) {
    const int64_t first_head = group * size_.heads_of_group;
    for (int64_t h = 0; h < size_.heads_of_group; ++h) {
      ComputeSteps(sample, first_head + h);
    }
    for (int64_t index = 0; index < shape_.chunks(); ++index) {
      const Chunk chunk(shape_, index);
      group_.Read(shape_, args_.in, size_, sample, group, chunk);
      for (int64_t h = 0; h < size_.heads_of_group; ++h) {
        RunHead(sample, first_head + h, index, chunk);
      }
    }
  }

 private:
  static int64_t PanelFloats(const SsdSizes<S>& size) {
    const int64_t qs = size.q_stride, ps = size.p_stride, ns = size.n_stride;
    return GroupPanels<S>::Floats(size) + qs * (qs + 5 * ps + 2) + 2 * ps * ns;
  }

  // dt of all tokens, and its decay's cumulative sum inside each chunk.
  void ComputeSteps(int64_t sample, int64_t head) {
    const int64_t row = (sample * shape_.heads + head) * shape_.tokens;
    float* dt = args_.saved.dt + row;
    float* cumsum = args_.saved.cumsum + row;
    const S* raw = static_cast<const S*>(args_.in.dt_raw) +
                   sample * shape_.tokens * args_.in.dt_row_stride + head;
    const float bias = args_.in.dt_bias[head];
    for (int64_t t = 0; t < shape_.tokens; ++t) {
      dt[t] = ToF32(raw[t * args_.in.dt_row_stride]) + bias;
    }
    for (int64_t t = 0; t < shape_.tokens; ++t) dt[t] = math::Softplus(dt[t]);
    const float a = -math::Exp(args_.in.a_log[head]);
    for (int64_t t = 0; t < shape_.tokens; ++t) {
      const float before = t % shape_.chunk == 0 ? 0.0f : cumsum[t - 1];
      cumsum[t] = before + a * dt[t];
    }
  }

  void RunHead(int64_t sample, int64_t head, int64_t index,
               const Chunk& chunk) {
    const float* cumsum =
        TokensOf(args_.saved.cumsum, shape_, sample, head, chunk);
    ComputeDecay(chunk, cumsum, group_.segments.data(), group_.carried_segment,
                 decay_);
    ReadInputs(sample, head,
               TokensOf(args_.saved.dt, shape_, sample, head, chunk), chunk);
    FillLambdaScores(cumsum, chunk);
    CausalProduct<S>(chunk, size_.p, l_, size_.q_stride, {u_, size_.p_stride},
                     {within_, size_.p_stride});
    float* state = StateOf(args_.saved, shape_, sample, head, index);
    if (index == 0) std::fill(state, state + size_.p * size_.n, 0.0f);
    MultiplyState(index == 0, state, chunk);
    WriteOutput(sample, head, chunk);
    if (index + 1 < shape_.chunks()) AdvanceState(state, chunk);
  }

  // x, u and w u, the latter two rounded as operands.
  void ReadInputs(int64_t sample, int64_t head, const float* dt,
                  const Chunk& chunk) {
    ReadPanel(PartOf<S>(args_.in.x, args_.in.x_row_stride, shape_, sample,
                        chunk, head * size_.p),
              args_.in.x_row_stride, chunk.q, chunk.padded, size_.p, x_,
              size_.p_stride);
    for (int64_t j = 0; j < chunk.padded; ++j) {
      const float step = j < chunk.q ? dt[j] : 0.0f;
      const float to_end = j < chunk.q ? decay_.to_end[j] : 0.0f;
      const float* __restrict x = x_ + j * size_.p_stride;
      float* __restrict u = u_ + j * size_.p_stride;
      float* __restrict decayed = decayed_u_ + j * size_.p_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.p; ++c) {
        const float value = step * x[c];
        u[c] = Rounded<S>(value);
        decayed[c] = Rounded<S>(to_end * value);
      }
    }
  }

  // round(lambda K), +0 where masked.
  void FillLambdaScores(const float* cumsum, const Chunk& chunk) {
    for (int64_t i = 0; i < chunk.q; ++i) {
      float* l = l_ + i * size_.q_stride;
      const int64_t end = std::min(CausalEnd(i), chunk.q);
      LambdaRow<S>(static_cast<int32_t>(i), static_cast<int32_t>(end), cumsum,
                   group_.segments.data(), group_.scores + i * size_.q_stride,
                   l);
      std::fill(l + end, l + CausalEnd(i), 0.0f);
    }
  }

  // carried_i = C_i . H_c.
  void MultiplyState(bool first, const float* state, const Chunk& chunk) {
    const int64_t ps = size_.p_stride;
    TransposePanel(state, size_.n, size_.p, size_.n, state_transposed_, ps);
    for (int64_t c = 0; c < size_.n; ++c) {
      float* __restrict row = state_transposed_ + c * ps;
      LS_IVDEP
      for (int64_t r = 0; r < size_.p; ++r) row[r] = Rounded<S>(row[r]);
    }
    StateProduct<S>(first, chunk, size_.p, size_.n_contraction,
                    {group_.c, size_.n_stride, 1}, {state_transposed_, ps},
                    {carried_, ps});
  }

  void WriteOutput(int64_t sample, int64_t head, const Chunk& chunk) {
    const float d = args_.in.d[head];
    for (int64_t i = 0; i < chunk.q; ++i) {
      const int64_t row = sample * shape_.tokens + chunk.first + i;
      S* __restrict y =
          static_cast<S*>(args_.y) + row * args_.y_row_stride + head * size_.p;
      const float* __restrict within = within_ + i * size_.p_stride;
      const float* __restrict carried = carried_ + i * size_.p_stride;
      const float* __restrict x = x_ + i * size_.p_stride;
      const float decay = decay_.from_start[i];
      LS_IVDEP
      for (int64_t c = 0; c < size_.p; ++c) {
        y[c] = FromF32<S>((within[c] + decay * carried[c]) + d * x[c]);
      }
    }
  }

  // H_{c+1} = exp(cs_Q) H_c + S_c, behind H_c in memory.
  void AdvanceState(float* state, const Chunk& chunk) {
    BlockProduct<IsAmx32<S>()>(size_.p, size_.n, Contraction<S>(chunk.q),
                               {decayed_u_, 1, size_.p_stride},
                               {group_.b, size_.n_stride},
                               {entering_, size_.n_stride});
    for (int64_t r = 0; r < size_.p; ++r) {
      const float* __restrict from = state + r * size_.n;
      float* __restrict to = state + (size_.p + r) * size_.n;
      const float* __restrict entering = entering_ + r * size_.n_stride;
      LS_IVDEP
      for (int64_t c = 0; c < size_.n; ++c) {
        to[c] = decay_.carry * from[c] + entering[c];
      }
    }
  }

  const SsdForwardArgs& args_;
  const SsdShape& shape_;
  const SsdSizes<S> size_;
  PanelMemory memory_;
  GroupPanels<S> group_;
  Decay decay_{};
  float* l_;                             // round(lambda K), [q, q]
  float *x_, *u_, *decayed_u_;           // [q, p]
  float *within_, *carried_;             // [q, p]
  float *entering_, *state_transposed_;  // [p, n], [n, p]
};

template <class S>
void RunForward(const SsdForwardArgs& args, int64_t begin, int64_t end) {
  GroupForward<S> work(args);
  for (int64_t item = begin; item < end; ++item) {
    work.Run(item / args.shape.groups, item % args.shape.groups);
  }
}

}  // namespace

void SsdForwardRange(const SsdForwardArgs& args, int64_t begin, int64_t end) {
  WithStorage(args.in.dtype, [&](auto storage) {
    RunForward<decltype(storage)>(args, begin, end);
  });
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
