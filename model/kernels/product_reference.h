// Clause N3 written down once more, one element at a time, for tests of kernels
// that multiply inside. Shares no code with them. Call it under ScopedFloatEnv.

#ifndef MODEL_KERNELS_PRODUCT_REFERENCE_H_
#define MODEL_KERNELS_PRODUCT_REFERENCE_H_

#include <cmath>
#include <cstdint>

#include "determinism/dtype.h"

namespace lockstep {

inline float RoundTo(DType dtype, float value) {
  if (dtype == DType::kBF16) return ToF32(ToBF16(value));
  if (dtype == DType::kF16) return ToF32(ToF16(value));
  return value;
}

// Sum of left(p) right(p) over p in [begin, end), both operands rounded to the
// storage type first.
template <class Left, class Right>
float ProductReference(DType dtype, int64_t begin, int64_t end, Left left,
                       Right right) {
  const auto operand = [&](auto side, int64_t p) {
    return p < end ? RoundTo(dtype, side(p)) : 0.0f;
  };
  float sum = 0.0f;
  if (dtype == DType::kF32) {
    for (int64_t p = begin; p < end; ++p) {
      sum = std::fma(operand(left, p), operand(right, p), sum);
    }
    return sum;
  }
  for (int64_t block = begin; block < end; block += 32) {
    float chain[2] = {0.0f, 0.0f};
    for (int64_t p = 0; p < 32; ++p) {
      chain[p % 2] = std::fma(operand(left, block + p),
                              operand(right, block + p), chain[p % 2]);
    }
    sum = sum + (chain[0] + chain[1]);
  }
  return sum;
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_PRODUCT_REFERENCE_H_
