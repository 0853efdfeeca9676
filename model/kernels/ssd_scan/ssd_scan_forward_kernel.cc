#include <algorithm>
#include <cstdint>
#include <vector>

#include "determinism/dtype.h"
#include "determinism/math.h"
#include "model/kernels/block_product.h"
#include "model/kernels/panel.h"
#include "model/kernels/ssd_scan/ssd_chunk.h"
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
        segments_(size_.q_stride) {
    const int64_t qs = size_.q_stride, ps = size_.p_stride, ns = size_.n_stride;
    b_ = memory_.Take(qs * ns);
    b_transposed_ = memory_.Take(ns * qs);
    c_ = memory_.Take(qs * ns);
    scores_ = memory_.Take(qs * qs);
    l_ = memory_.Take(qs * qs);
    x_ = memory_.Take(qs * ps);
    u_ = memory_.Take(qs * ps);
    decayed_u_ = memory_.Take(qs * ps);
    within_ = memory_.Take(qs * ps);
    carried_ = memory_.Take(qs * ps);
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
      ReadGroup(sample, group, chunk);
      for (int64_t h = 0; h < size_.heads_of_group; ++h) {
        RunHead(sample, first_head + h, index, chunk);
      }
    }
  }

 private:
  static int64_t PanelFloats(const SsdSizes<S>& size) {
    const int64_t qs = size.q_stride, ps = size.p_stride, ns = size.n_stride;
    return 3 * qs * ns + 2 * qs * qs + 5 * qs * ps + 2 * ps * ns + 2 * qs;
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

  // B, C and their products, which the group's heads share.
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
  }

  void RunHead(int64_t sample, int64_t head, int64_t index,
               const Chunk& chunk) {
    const int64_t row = (sample * shape_.heads + head) * shape_.tokens;
    const float* cumsum = args_.saved.cumsum + row + chunk.first;
    ComputeDecay(chunk, cumsum, segments_.data(), carried_segment_, decay_);
    ReadInputs(sample, head, args_.saved.dt + row + chunk.first, chunk);
    FillLambdaScores(cumsum, chunk);
    CausalProduct<S>(chunk, size_.p, l_, size_.q_stride, {u_, size_.p_stride},
                     {within_, size_.p_stride});
    float* state = args_.saved.states +
                   ((sample * shape_.heads + head) * shape_.chunks() + index) *
                       size_.p * size_.n;
    if (index == 0) std::fill(state, state + size_.p * size_.n, 0.0f);
    MultiplyState(index == 0, state, chunk);
    WriteOutput(sample, head, chunk);
    if (index + 1 < shape_.chunks()) AdvanceState(state, chunk);
  }

  // x, u and w u, the latter two rounded as operands.
  void ReadInputs(int64_t sample, int64_t head, const float* dt,
                  const Chunk& chunk) {
    const int64_t row = sample * shape_.tokens + chunk.first;
    ReadPanel(static_cast<const S*>(args_.in.x) + row * args_.in.x_row_stride +
                  head * size_.p,
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
                   segments_.data(), scores_ + i * size_.q_stride, l);
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
                    {c_, size_.n_stride, 1}, {state_transposed_, ps},
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
  void AdvanceState(const float* state, const Chunk& chunk) {
    BlockProduct<IsAmx32<S>()>(size_.p, size_.n, Contraction<S>(chunk.q),
                               {decayed_u_, 1, size_.p_stride},
                               {b_, size_.n_stride},
                               {entering_, size_.n_stride});
    for (int64_t r = 0; r < size_.p; ++r) {
      const float* __restrict from = state + r * size_.n;
      float* __restrict to = const_cast<float*>(from) + size_.p * size_.n;
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
  std::vector<int32_t> segments_;
  int32_t carried_segment_ = 0;
  Decay decay_{};
  float *b_, *b_transposed_, *c_;        // [q, n], [n, q], [q, n]
  float *scores_, *l_;                   // K and round(lambda K), [q, q]
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
