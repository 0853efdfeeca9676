#include "determinism/dtype.h"
#include "determinism/math.h"
#include "determinism/math_array.h"
#include "determinism/ordered_sum.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {
namespace {

// A function object for each, since an always-inline function has no address.
struct ExpOf {
  static float At(float x) { return math::Exp(x); }
};
struct LogOf {
  static float At(float x) { return math::Log(x); }
};
struct Log1pOf {
  static float At(float x) { return math::Log1p(x); }
};
struct SigmoidOf {
  static float At(float x) { return math::Sigmoid(x); }
};
struct SoftplusOf {
  static float At(float x) { return math::Softplus(x); }
};
struct TanhOf {
  static float At(float x) { return math::Tanh(x); }
};
struct RsqrtOf {
  static float At(float x) { return math::Rsqrt(x); }
};
struct SinOf {
  static float At(float x) { return math::Sin(x); }
};
struct CosOf {
  static float At(float x) { return math::Cos(x); }
};
struct ThroughBF16 {
  static float At(float x) { return ToF32(ToBF16(x)); }
};
struct ThroughF16 {
  static float At(float x) { return ToF32(ToF16(x)); }
};

template <class Function>
void Apply(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = Function::At(x[i]);
}

float Sum(const float* x, int64_t n) { return OrderedSum(x, n); }

float Dot(const float* a, const float* b, int64_t n) {
  return OrderedDot(a, b, n);
}

float Max(const float* x, int64_t n) { return OrderedMax(x, n); }

void ColumnSum(const float* x, int64_t rows, int64_t cols, int64_t row_stride,
               float* out) {
  OrderedColumnSum(x, rows, cols, row_stride, out);
}

}  // namespace

ArrayFunctions Arrays() {
  return {.exp = Apply<ExpOf>,
          .log = Apply<LogOf>,
          .log1p = Apply<Log1pOf>,
          .sigmoid = Apply<SigmoidOf>,
          .softplus = Apply<SoftplusOf>,
          .tanh = Apply<TanhOf>,
          .rsqrt = Apply<RsqrtOf>,
          .sin = Apply<SinOf>,
          .cos = Apply<CosOf>,
          .through_bf16 = Apply<ThroughBF16>,
          .through_f16 = Apply<ThroughF16>,
          .ordered_sum = Sum,
          .ordered_dot = Dot,
          .ordered_max = Max,
          .ordered_column_sum = ColumnSum};
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep
