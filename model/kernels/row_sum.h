// OrderedSum, OrderedDot and OrderedMax of a short row, in registers.
//
// Same order and same bits as determinism/ordered_sum.h, whose 64 lanes are a
// buffer in memory: for a row of 32 elements, of which a kernel has several for
// each token and head, filling and folding it costs more than the sum. Rows
// that are no multiple of 16 go to the original; the scalar level always does,
// and so checks this one. Include in *_kernel.cc files only.

#ifndef MODEL_KERNELS_ROW_SUM_H_
#define MODEL_KERNELS_ROW_SUM_H_

#include <cstdint>

#include "determinism/inline.h"
#include "determinism/ordered_sum.h"
#include "model/kernels/block_product.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

#if defined(__AVX2__)

// Lane l of `a` with lane l of `b`, as OrderedMaxStep.
LS_MATH_INLINE __m128 MaxStep(__m128 a, __m128 b) {
  const __m128 take = _mm_or_ps(_mm_cmpgt_ps(b, a), _mm_cmpunord_ps(b, b));
  return _mm_blendv_ps(a, b, take);
}
LS_MATH_INLINE __m256 MaxStep(__m256 a, __m256 b) {
  const __m256 take = _mm256_or_ps(_mm256_cmp_ps(b, a, _CMP_GT_OQ),
                                   _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
  return _mm256_blendv_ps(a, b, take);
}
LS_MATH_INLINE __m128 AddStep(__m128 a, __m128 b) { return _mm_add_ps(a, b); }
LS_MATH_INLINE __m256 AddStep(__m256 a, __m256 b) {
  return _mm256_add_ps(a, b);
}

struct RowAdd {
  template <class V>
  static inline __attribute__((always_inline)) V Step(V a, V b) {
    return AddStep(a, b);
  }
};
struct RowMaximum {
  template <class V>
  static inline __attribute__((always_inline)) V Step(V a, V b) {
    return MaxStep(a, b);
  }
};

// Lanes 0..7 and 8..15 to one value: l += l + 8, 4, 2, 1.
template <class Op>
LS_MATH_INLINE float FoldSixteen(__m256 low, __m256 high) {
  const __m256 eight = Op::Step(low, high);
  __m128 v =
      Op::Step(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  v = Op::Step(v, _mm_movehl_ps(v, v));
  v = Op::Step(v, _mm_shuffle_ps(v, v, 1));
  return _mm_cvtss_f32(v);
}

// All of OrderedFold for n a multiple of 16: next(lanes, i) takes elements
// i..i+7 into eight lanes.
template <class Op, class Next>
LS_MATH_INLINE float FoldRow(int64_t n, float start, Next next) {
  __m256 lanes[8];
  for (int v = 0; v < 8; ++v) lanes[v] = _mm256_set1_ps(start);
  const int64_t whole = n - n % kOrderedLanes;
  for (int64_t i = 0; i < whole; i += kOrderedLanes) {
    for (int v = 0; v < 8; ++v) lanes[v] = next(lanes[v], i + v * 8);
  }
  const auto take = [&](int v) {
    lanes[v] = next(lanes[v], whole + v * 8);
    lanes[v + 1] = next(lanes[v + 1], whole + v * 8 + 8);
  };
  if (n - whole > 0) take(0);
  if (n - whole > 16) take(2);
  if (n - whole > 32) take(4);
  const __m256 low =
      Op::Step(Op::Step(lanes[0], lanes[4]), Op::Step(lanes[2], lanes[6]));
  const __m256 high =
      Op::Step(Op::Step(lanes[1], lanes[5]), Op::Step(lanes[3], lanes[7]));
  return FoldSixteen<Op>(low, high);
}

LS_MATH_INLINE float RowSum(const float* x, int64_t n) {
  if (n % 16 != 0) return OrderedSum(x, n);
  return FoldRow<RowAdd>(n, 0.0f, [x](__m256 lanes, int64_t i) {
    return _mm256_add_ps(lanes, _mm256_loadu_ps(x + i));
  });
}

LS_MATH_INLINE float RowDot(const float* a, const float* b, int64_t n) {
  if (n % 16 != 0) return OrderedDot(a, b, n);
  return FoldRow<RowAdd>(n, 0.0f, [a, b](__m256 lanes, int64_t i) {
    return _mm256_fmadd_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i),
                           lanes);
  });
}

LS_MATH_INLINE float RowMax(const float* x, int64_t n) {
  if (n % 16 != 0) return OrderedMax(x, n);
  return FoldRow<RowMaximum>(n, -__builtin_inff(),
                             [x](__m256 lanes, int64_t i) {
                               return MaxStep(lanes, _mm256_loadu_ps(x + i));
                             });
}

#else

LS_MATH_INLINE float RowSum(const float* x, int64_t n) {
  return OrderedSum(x, n);
}
LS_MATH_INLINE float RowDot(const float* a, const float* b, int64_t n) {
  return OrderedDot(a, b, n);
}
LS_MATH_INLINE float RowMax(const float* x, int64_t n) {
  return OrderedMax(x, n);
}

#endif

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_ROW_SUM_H_
