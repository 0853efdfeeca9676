// What becomes of a tile's finished sums: rounded into c, added to it, or added
// to the integer grid.
//
// A part of matmul_block.h; include that. Sums lie kTileColumns apart.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_OUTPUT_H_
#define MODEL_KERNELS_MATMUL_MATMUL_OUTPUT_H_

#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/inline.h"
#include "model/kernels/grid_add.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_tile.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

template <class T>
LS_MATH_INLINE void StoreRow(const float* sums, T* to, int64_t columns) {
  for (int64_t j = 0; j < columns; j += kLanes) {
    StoreUpTo(Load(sums + j), to + j, columns - j);
  }
}

LS_MATH_INLINE void AddRow(const float* sums, float* to, int64_t columns) {
  for (int64_t j = 0; j < columns; j += kLanes) {
    const F32x16 held = LoadUpTo(to + j, columns - j);
    StoreUpTo(Add(held, Load(sums + j)), to + j, columns - j);
  }
}

// Rounds a tile's finished sums into an F32, BF16 or F16 c at (row, col), or
// adds them.
static inline void FinishTile(const MatmulArgs& args, const float* sums,
                              int64_t row, int64_t col, int64_t rows,
                              int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = sums + r * kTileColumns;
    const int64_t at = (row + r) * args.c_row_stride + col;
    if (args.accumulate) {
      AddRow(from, static_cast<float*>(args.c) + at, columns);
    } else if (args.c_dtype == DType::kF32) {
      StoreRow(from, static_cast<float*>(args.c) + at, columns);
    } else if (args.c_dtype == DType::kBF16) {
      StoreRow(from, static_cast<BF16*>(args.c) + at, columns);
    } else {
      StoreRow(from, static_cast<F16*>(args.c) + at, columns);
    }
  }
}

// right = left + right, `rows` rows of a tile.
static inline void AddTile(const float* left, float* right, int64_t rows) {
  for (int64_t i = 0; i < rows * kTileColumns; i += kLanes) {
    Store(Add(Load(left + i), Load(right + i)), right + i);
  }
}

// The sums of a tile that wait in an F32 c.
static inline void ReloadTile(const MatmulArgs& args, float* sums, int64_t row,
                              int64_t col, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* from =
        static_cast<const float*>(args.c) + (row + r) * args.c_row_stride + col;
    for (int64_t j = 0; j < columns; j += kLanes) {
      Store(LoadUpTo(from + j, columns - j), sums + r * kTileColumns + j);
    }
  }
}

// A leaf's sums (N5); c = nullptr is a probe.
static inline void AddToGrid(const MatmulArgs& args, const float* sums,
                             int64_t row, int64_t col, int64_t rows,
                             int64_t columns, const GridScale& scale) {
  auto* c = static_cast<int64_t*>(args.c);
  GridTally tally;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t* q =
        c == nullptr ? nullptr : c + (row + r) * args.c_row_stride + col;
    GridAddRow(sums + r * kTileColumns, columns, scale, q, tally);
  }
  FoldTally(tally, *args.grid_stats);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_OUTPUT_H_
