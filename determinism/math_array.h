// Loops over arrays around math.h, dtype.h and ordered_sum.h at each level of
// lockstep_isa_library, so that tests and the soak can compare the levels.
//
// Not for kernels, which call the functions inside their own loops.

#ifndef DETERMINISM_MATH_ARRAY_H_
#define DETERMINISM_MATH_ARRAY_H_

#include <cstdint>
#include <vector>

namespace lockstep {

// y[i] = f(x[i]).
using ArrayFunction = void (*)(const float* x, float* y, int64_t n);

struct ArrayFunctions {
  ArrayFunction exp, log, log1p, sigmoid, softplus, tanh, rsqrt, sin, cos;
  ArrayFunction through_bf16, through_f16;  // to the format and back
  float (*ordered_sum)(const float* x, int64_t n);
  float (*ordered_dot)(const float* a, const float* b, int64_t n);
  float (*ordered_max)(const float* x, int64_t n);
  void (*ordered_column_sum)(const float* x, int64_t rows, int64_t cols,
                             int64_t row_stride, float* out);
};

struct ArrayLevel {
  const char* name;
  ArrayFunctions functions;
};

// The levels this CPU can run, scalar first.
std::vector<ArrayLevel> ArrayLevelsHere();

namespace scalar {
ArrayFunctions Arrays();
}  // namespace scalar
namespace avx2 {
ArrayFunctions Arrays();
}  // namespace avx2
namespace avx512 {
ArrayFunctions Arrays();
}  // namespace avx512

}  // namespace lockstep

#endif  // DETERMINISM_MATH_ARRAY_H_
