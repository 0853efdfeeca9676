// Copies operands into the layout that matmul_tile.h reads, widened to float.
//
// The copy is where transposes, odd strides, narrow types and ragged edges end,
// so the inner loops know none of them. Padding is +0 in both operands.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_PACK_H_
#define MODEL_KERNELS_MATMUL_MATMUL_PACK_H_

#include <algorithm>
#include <cstdint>

#include "determinism/inline.h"
#include "model/kernels/matmul/matmul_tile.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// A matrix of T by pointer and strides, in elements.
template <class T>
struct View {
  const T* data;
  int64_t row_stride;
  int64_t col_stride;

  const T* at(int64_t row, int64_t col) const {
    return data + row * row_stride + col * col_stride;
  }
};

// out[i] lane j = from[i + j * stride] for i < adjacent and j < strided, else
// +0: a 16 x 16 piece, transposed while loading.
template <class T>
LS_MATH_INLINE void LoadTransposed(const T* from, int64_t stride,
                                   int64_t adjacent, int64_t strided,
                                   F32x16 (&out)[16]) {
  if (adjacent >= kLanes && strided >= kLanes) {
#pragma GCC unroll 16
    for (int64_t j = 0; j < kLanes; ++j) out[j] = Load(from + j * stride);
  } else {
#pragma GCC unroll 16
    for (int64_t j = 0; j < kLanes; ++j) {
      out[j] = j < strided && adjacent > 0
                   ? LoadUpTo(from + j * stride, adjacent)
                   : Zero();
    }
  }
  Transpose16x16(out);
}

// A row of a: `depth` elements, then +0 up to `padded`.
template <class T>
LS_MATH_INLINE void PackRow(const T* from, int64_t stride, int64_t depth,
                            int64_t padded, float* to) {
  int64_t k = 0;
  if (stride == 1) {
    for (; k + kLanes <= depth; k += kLanes) Store(Load(from + k), to + k);
  }
  for (; k < depth; ++k) to[k] = ToF32(from[k * stride]);
  for (; k < padded; ++k) to[k] = 0.0f;
}

// Rows [0, rows) of a, kRowStride apart; rows up to `tile_rows` are +0. Where
// the matrix goes on for `available` rows, whole vectors of them may be read.
template <class T>
static void PackA(View<T> a, int64_t rows, int64_t available, int64_t tile_rows,
                  int64_t depth, int64_t padded, float* to) {
  if (a.row_stride == 1 && a.col_stride != 1) {
    for (int64_t k = 0; k < padded; k += kLanes) {
      F32x16 piece[16];
      LoadTransposed(a.at(0, k), a.col_stride, available, depth - k, piece);
      for (int64_t r = 0; r < rows; ++r)
        Store(piece[r], to + r * kRowStride + k);
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      PackRow(a.at(r, 0), a.col_stride, depth, padded, to + r * kRowStride);
    }
  }
  for (int64_t r = rows; r < tile_rows; ++r) {
    std::fill_n(to + r * kRowStride, padded, 0.0f);
  }
}

// Columns [0, columns) of b as rows of `width` floats: columns <= width.
template <class T>
static void PackPanel(View<T> b, int64_t columns, int64_t width, int64_t depth,
                      int64_t padded, float* to) {
  if (b.row_stride == 1 && b.col_stride != 1) {
    for (int64_t k = 0; k < padded; k += kLanes) {
      for (int64_t j = 0; j < width; j += kLanes) {
        F32x16 piece[16];
        LoadTransposed(b.at(k, j), b.col_stride, depth - k, columns - j, piece);
        const int64_t rows = std::min(kLanes, padded - k);
        for (int64_t i = 0; i < rows; ++i) {
          Store(piece[i], to + (k + i) * width + j);
        }
      }
    }
    return;
  }
  std::fill_n(to + depth * width, (padded - depth) * width, 0.0f);
  for (int64_t k = 0; k < depth; ++k) {
    float* row = to + k * width;
    if (b.col_stride == 1) {
      for (int64_t j = 0; j < width; j += kLanes) {
        Store(LoadUpTo(b.at(k, j), columns - j), row + j);
      }
    } else {
      for (int64_t j = 0; j < width; ++j) {
        row[j] = j < columns ? ToF32(*b.at(k, j)) : 0.0f;
      }
    }
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_PACK_H_
