// fp32 panels for block_product.h: reading storage into them, transposing,
// rounding values to a storage type while they stay fp32, and their memory.
//
// A panel is row-major with a stride that is a multiple of 32, so that every
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

// to[c, r] = from[r, c] for rows x columns.
static inline void TransposePanel(const float* from, int64_t from_stride,
                                  int64_t rows, int64_t columns, float* to,
                                  int64_t to_stride) {
  for (int64_t r0 = 0; r0 < rows; r0 += 16) {
    const int64_t r1 = r0 + 16 < rows ? r0 + 16 : rows;
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t r = r0; r < r1; ++r) {
        to[c * to_stride + r] = from[r * from_stride + c];
      }
    }
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_PANEL_H_
