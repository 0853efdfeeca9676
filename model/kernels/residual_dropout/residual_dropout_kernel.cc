// Ranges of the residual add with dropout, once per instruction set level; see
// residual_dropout.h.

#include <algorithm>
#include <cstring>
#include <span>

#include "determinism/philox.h"
#include "model/kernels/residual_dropout/residual_dropout.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

constexpr int64_t kDrawn = 256;  // numbers drawn at a time

// Calls fn(first column, columns, numbers) over a row's random numbers.
template <class Fn>
void ForDraws(const DropoutPosition& at, int64_t row, int64_t d, Fn fn) {
  uint32_t drawn[kDrawn];
  RandomPosition position{};
  position.stream = Stream::kHiddenDropout;
  position.layer = at.layer;
  position.item = at.sample_ids[static_cast<size_t>(row / at.tokens)];
  for (int64_t first = 0; first < d; first += kDrawn) {
    const int64_t n = std::min(d - first, kDrawn);
    position.element =
        static_cast<uint64_t>((at.first_token + row % at.tokens) * d + first);
    FillRandomU32(at.seed, position,
                  std::span<uint32_t>(drawn, static_cast<size_t>(n)));
    fn(first, n, drawn);
  }
}

uint32_t Threshold(double p) { return static_cast<uint32_t>(p * 4294967296.0); }
float Scale(double p) { return static_cast<float>(1.0 / (1.0 - p)); }

template <class S>
void AddRow(const S* x, const S* y, int64_t d, S* out) {
#pragma GCC ivdep  // out may be x or y
  for (int64_t j = 0; j < d; ++j) {
    out[j] = FromF32<S>(ToF32(x[j]) + ToF32(y[j]));
  }
}

template <class S>
void DropAddRow(const DropoutPosition& at, int64_t row, int64_t d, const S* x,
                const S* y, S* out) {
  const uint32_t threshold = Threshold(at.p);
  const float scale = Scale(at.p);
  ForDraws(at, row, d, [&](int64_t first, int64_t n, const uint32_t* drawn) {
    const S* xs = x + first;
    const S* ys = y + first;
    S* outs = out + first;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      const float scaled = ToF32(ys[j]) * scale;
      outs[j] =
          FromF32<S>(ToF32(xs[j]) + (drawn[j] >= threshold ? scaled : 0.0f));
    }
  });
}

template <class S>
void DropRow(const DropoutPosition& at, int64_t row, int64_t d, const S* dres,
             S* dy) {
  const uint32_t threshold = Threshold(at.p);
  const float scale = Scale(at.p);
  ForDraws(at, row, d, [&](int64_t first, int64_t n, const uint32_t* drawn) {
    const S* in = dres + first;
    S* out = dy + first;
#pragma GCC ivdep
    for (int64_t j = 0; j < n; ++j) {
      const float scaled = ToF32(in[j]) * scale;
      out[j] = FromF32<S>(drawn[j] >= threshold ? scaled : 0.0f);
    }
  });
}

}  // namespace

void ResidualDropoutForwardRange(const ResidualDropoutForwardArgs& args,
                                 int64_t begin, int64_t end) {
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      const S* x = RowOf<S>(args.x, row, args.x_row_stride);
      const S* y = RowOf<S>(args.y, row, args.y_row_stride);
      S* out = RowOf<S>(args.out, row, args.out_row_stride);
      if (args.dropout.p == 0) {
        AddRow<S>(x, y, args.d, out);
      } else {
        DropAddRow<S>(args.dropout, row, args.d, x, y, out);
      }
    }
  });
}

void ResidualDropoutBackwardRange(const ResidualDropoutBackwardArgs& args,
                                  int64_t begin, int64_t end) {
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      const S* dres = RowOf<S>(args.dres, row, args.dres_row_stride);
      S* dy = RowOf<S>(args.dy, row, args.dy_row_stride);
      if (args.dropout.p == 0) {
        std::memmove(dy, dres, static_cast<size_t>(args.d) * sizeof(S));
      } else {
        DropRow<S>(args.dropout, row, args.d, dres, dy);
      }
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
