// fp32 panels for block_product.h: reading storage into them, transposing,
// rounding values to a storage type while they stay fp32, and their memory.
//
// A panel is row-major with a stride that is a multiple of 16, so that every
// row is aligned; what lies behind the logical rows and columns is +0, which is
// the padding that clause N3 asks of a tail. Include in *_kernel.cc files only.

#ifndef MODEL_KERNELS_PANEL_H_
#define MODEL_KERNELS_PANEL_H_

#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include "determinism/dtype.h"
#include "determinism/inline.h"
#include "model/kernels/block_product.h"
#include "model/kernels/storage.h"

// A loop over a row as a function of its own: its restrict parameters hold.
#define LS_NOINLINE static __attribute__((noinline))

// No iteration of the next loop reads what another wrote: spares the test for
// overlap, which costs more than a row of 32.
#if defined(__clang__)
#define LS_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LS_IVDEP _Pragma("GCC ivdep")
#endif

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Functions and plain constants throughout: -fno-weak knows no inline
// variables.
template <class S>
LS_MATH_INLINE constexpr bool IsAmx32() {
  return !std::is_same_v<S, float>;
}

// How far a contraction over `k` positions runs: padded for amx32 only.
template <class S>
LS_MATH_INLINE int64_t Contraction(int64_t k) {
  return IsAmx32<S>() ? RoundUp(k, kBlock) : k;
}

// Floats from a panel's row to the next, for rows of `columns`. A cache line
// more than a multiple of kBlock: rows a power of two apart share a few sets of
// the first cache, and a strip of 128 of them would evict itself.
LS_MATH_INLINE int64_t PanelStride(int64_t columns) {
  return RoundUp(columns, kBlock) + kColumns;
}

// The nearest value of the storage type, as fp32.
template <class S>
LS_MATH_INLINE float Rounded(float value) {
  return ToF32(FromF32<S>(value));
}

constexpr std::align_val_t kAlignment{64};

// value, or +0. In bits, lest the compiler compute value under a branch, which
// keeps a loop from being vectorised.
LS_MATH_INLINE float KeepIf(bool keep, float value) {
  const uint32_t mask = -static_cast<uint32_t>(keep);
  return BitCast<float>(BitCast<uint32_t>(value) & mask);
}

// 64-byte aligned floats, all +0 at first.
class PanelMemory {
 public:
  explicit PanelMemory(int64_t count)
      : data_(static_cast<float*>(::operator new(
            static_cast<size_t>(count) * sizeof(float), kAlignment))) {
    std::memset(data_, 0, static_cast<size_t>(count) * sizeof(float));
  }
  ~PanelMemory() { ::operator delete(data_, kAlignment); }
  PanelMemory(const PanelMemory&) = delete;
  PanelMemory& operator=(const PanelMemory&) = delete;

  // The next `count` floats; count is a multiple of 16 for alignment.
  float* Take(int64_t count) {
    float* taken = data_ + used_;
    used_ += count;
    return taken;
  }

 private:
  float* data_;
  int64_t used_ = 0;
};

// panel[r, c] = source[r, c]; rows up to padded_rows become +0. Columns behind
// `columns` are left alone (+0 since the panel was made).
template <class S>
static void ReadPanel(const S* source, int64_t source_stride, int64_t rows,
                      int64_t padded_rows, int64_t columns, float* panel,
                      int64_t stride) {
  for (int64_t r = 0; r < rows; ++r) {
    const S* __restrict from = source + r * source_stride;
    float* __restrict to = panel + r * stride;
    LS_IVDEP
    for (int64_t c = 0; c < columns; ++c) to[c] = ToF32(from[c]);
  }
  for (int64_t r = rows; r < padded_rows; ++r) {
    std::memset(panel + r * stride, 0, columns * sizeof(float));
  }
}

// storage[r, c] = panel[r, c], rounded once.
template <class S>
static void WritePanel(const float* panel, int64_t stride, int64_t rows,
                       int64_t columns, S* target, int64_t target_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* __restrict from = panel + r * stride;
    S* __restrict to = target + r * target_stride;
    LS_IVDEP
    for (int64_t c = 0; c < columns; ++c) to[c] = FromF32<S>(from[c]);
  }
}

#if defined(__AVX2__)
constexpr int64_t kTransposed = 4;
LS_MATH_INLINE void TransposeTile(const float* from, int64_t from_stride,
                                  float* to, int64_t to_stride) {
  const __m128 row0 = _mm_loadu_ps(from);
  const __m128 row1 = _mm_loadu_ps(from + from_stride);
  const __m128 row2 = _mm_loadu_ps(from + 2 * from_stride);
  const __m128 row3 = _mm_loadu_ps(from + 3 * from_stride);
  const __m128 low01 = _mm_unpacklo_ps(row0, row1);
  const __m128 low23 = _mm_unpacklo_ps(row2, row3);
  const __m128 high01 = _mm_unpackhi_ps(row0, row1);
  const __m128 high23 = _mm_unpackhi_ps(row2, row3);
  _mm_storeu_ps(to, _mm_movelh_ps(low01, low23));
  _mm_storeu_ps(to + to_stride, _mm_movehl_ps(low23, low01));
  _mm_storeu_ps(to + 2 * to_stride, _mm_movelh_ps(high01, high23));
  _mm_storeu_ps(to + 3 * to_stride, _mm_movehl_ps(high23, high01));
}
#else
constexpr int64_t kTransposed = 1;
LS_MATH_INLINE void TransposeTile(const float* from, int64_t, float* to,
                                  int64_t) {
  *to = *from;
}
#endif

// Rows [r0, r1) and columns [c0, c1) of TransposePanel, whatever their number.
LS_MATH_INLINE void TransposeRest(const float* from, int64_t from_stride,
                                  int64_t r0, int64_t r1, int64_t c0,
                                  int64_t c1, float* to, int64_t to_stride) {
  for (int64_t c = c0; c < c1; ++c) {
    for (int64_t r = r0; r < r1; ++r) {
      to[c * to_stride + r] = from[r * from_stride + c];
    }
  }
}

// to[c, r] = from[r, c] for rows x columns: a cache line of each output row
// before the next, in tiles.
static inline void TransposePanel(const float* from, int64_t from_stride,
                                  int64_t rows, int64_t columns, float* to,
                                  int64_t to_stride) {
  const int64_t whole_columns = columns / kTransposed * kTransposed;
  for (int64_t r0 = 0; r0 < rows; r0 += 16) {
    const int64_t r1 = r0 + 16 < rows ? r0 + 16 : rows;
    const int64_t whole = r0 + (r1 - r0) / kTransposed * kTransposed;
    for (int64_t c = 0; c < whole_columns; c += kTransposed) {
      for (int64_t r = r0; r < whole; r += kTransposed) {
        TransposeTile(from + r * from_stride + c, from_stride,
                      to + c * to_stride + r, to_stride);
      }
    }
    TransposeRest(from, from_stride, whole, r1, 0, whole_columns, to,
                  to_stride);
    TransposeRest(from, from_stride, r0, r1, whole_columns, columns, to,
                  to_stride);
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_PANEL_H_
