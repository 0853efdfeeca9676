#include "tools/doctor/functions_kernel.h"

#include "determinism/math.h"
#include "determinism/math_trig.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

template <class Function>
void Over(const float* x, float* y, int64_t n, Function function) {
  for (int64_t i = 0; i < n; ++i) y[i] = function(x[i]);
}

}  // namespace

void EvaluateFunction(int function, const float* x, float* y, int64_t n) {
  switch (function) {
    case 0:
      return Over(x, y, n, [](float v) { return math::Exp(v); });
    case 1:
      return Over(x, y, n, [](float v) { return math::Log(v); });
    case 2:
      return Over(x, y, n, [](float v) { return math::Log1p(v); });
    case 3:
      return Over(x, y, n, [](float v) { return math::Sigmoid(v); });
    case 4:
      return Over(x, y, n, [](float v) { return math::Softplus(v); });
    case 5:
      return Over(x, y, n, [](float v) { return math::Tanh(v); });
    case 6:
      return Over(x, y, n, [](float v) { return math::Rsqrt(v); });
    case 7:
      return Over(x, y, n, [](float v) { return math::Sin(v); });
    default:
      return Over(x, y, n, [](float v) { return math::Cos(v); });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
