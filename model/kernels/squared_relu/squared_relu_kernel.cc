// Ranges of squared ReLU, once per instruction set level; see squared_relu.h.

#include "model/kernels/squared_relu/squared_relu.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

inline __attribute__((always_inline)) float Relu(float x) {
  return x < 0.0f ? 0.0f : x;
}

template <class S>
void ForwardRow(const S* x, int64_t d, S* y) {
#pragma GCC ivdep  // y may be x
  for (int64_t j = 0; j < d; ++j) {
    const float r = Relu(ToF32(x[j]));
    y[j] = FromF32<S>(r * r);
  }
}

template <class S>
void BackwardRow(const S* dy, const S* x, int64_t d, S* dx) {
#pragma GCC ivdep  // dx may be dy or x
  for (int64_t j = 0; j < d; ++j) {
    dx[j] = FromF32<S>((2.0f * Relu(ToF32(x[j]))) * ToF32(dy[j]));
  }
}

}  // namespace

void SquaredReluForwardRange(const SquaredReluForwardArgs& args, int64_t begin,
                             int64_t end) {
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      ForwardRow<S>(RowOf<S>(args.x, row, args.x_row_stride), args.d,
                    RowOf<S>(args.y, row, args.y_row_stride));
    }
  });
}

void SquaredReluBackwardRange(const SquaredReluBackwardArgs& args,
                              int64_t begin, int64_t end) {
  WithStorage(args.dtype, [&]<class S>(S) {
    for (int64_t row = begin; row < end; ++row) {
      BackwardRow<S>(RowOf<S>(args.dy, row, args.dy_row_stride),
                     RowOf<S>(args.x, row, args.x_row_stride), args.d,
                     RowOf<S>(args.dx, row, args.dx_row_stride));
    }
  });
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
