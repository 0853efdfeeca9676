// Loads and stores of activations in a storage type: F32, BF16 or F16.
//
// A kernel widens what it loads (exact), computes in fp32 and rounds once when
// it stores, with the one conversion of N10; it is a template over the storage
// type and is chosen by WithStorage. Not for arithmetic in 16 bits, which does
// not exist here. Everything is inlined, since the file is compiled at several
// instruction set levels.

#ifndef MODEL_KERNELS_STORAGE_H_
#define MODEL_KERNELS_STORAGE_H_

#include <cstdint>
#include <type_traits>

#include "determinism/dtype.h"
#include "determinism/inline.h"

namespace lockstep {

// Rounds to nearest even; F32 keeps its bits.
template <class S>
LS_MATH_INLINE S FromF32(float value) {
  if constexpr (std::is_same_v<S, BF16>) {
    return ToBF16(value);
  } else if constexpr (std::is_same_v<S, F16>) {
    return ToF16(value);
  } else {
    static_assert(std::is_same_v<S, float>);
    return value;
  }
}

// Row `row` of a matrix of S with the given stride in elements.
template <class S>
LS_MATH_INLINE const S* RowOf(const void* data, int64_t row,
                              int64_t row_stride) {
  return static_cast<const S*>(data) + row * row_stride;
}
template <class S>
LS_MATH_INLINE S* RowOf(void* data, int64_t row, int64_t row_stride) {
  return static_cast<S*>(data) + row * row_stride;
}

inline constexpr bool IsStorage(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

// Calls fn(S{}) for the storage type `dtype`. Entry points check IsStorage, so
// that kernels carry no messages.
template <class Fn>
LS_MATH_INLINE void WithStorage(DType dtype, Fn fn) {
  if (dtype == DType::kBF16) {
    fn(BF16{});
  } else if (dtype == DType::kF16) {
    fn(F16{});
  } else {
    fn(float{});
  }
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_STORAGE_H_
