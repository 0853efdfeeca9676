// The matrix product of matmul.h for use inside another kernel of the same
// instruction-set level: one thread, no allocation, no checks.
//
// Include it in *_kernel.cc files only; all of it is static in LOCKSTEP_ISA_NS,
// so each level gets a copy of its own. The caller holds a ScopedFloatEnv
// (every ParallelFor range does). It packs its operands into about 0.8 MiB of
// stack.
//
//   MatmulBlock(args);                    // args.batch == 1
//   MatmulBlock(args, k_begin, k_end);    // part of the contraction only
//
// With a range of k, begin and end being multiples of 32 (or end = args.k), the
// result is the sum over those positions from +0, in the order of matmul.h:
// how a causal product skips blocks that the mask empties (N13).

#ifndef MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_
#define MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "determinism/dtype.h"
#include "determinism/inline.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_cut.h"
#include "model/kernels/matmul/matmul_pack.h"
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

// Rounds a tile's finished sums into c at (row, col), or adds them.
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

// One call: T is the operands' type.
template <class T>
class BlockedProduct {
 public:
  enum : bool { kBlocks = !std::is_same_v<T, float> };

  explicit BlockedProduct(const MatmulArgs& args)
      : args_(args),
        a_{static_cast<const T*>(args.a.data), args.a.row_stride,
           args.a.col_stride},
        b_{static_cast<const T*>(args.b.data), args.b.row_stride,
           args.b.col_stride},
        cut_(CutOf(args, Padded(args.k))) {}

  void Run() {
    for (int64_t col = 0; col < args_.n; col += cut_.columns) {
      const int64_t columns = std::min(cut_.columns, args_.n - col);
      for (int64_t row = 0; row < args_.m; row += cut_.rows) {
        const int64_t rows = std::min(cut_.rows, args_.m - row);
        int64_t k = 0;
        do {  // also once for k = 0, to store +0
          const int64_t depth = std::min(cut_.depth, args_.k - k);
          PackB(k, depth, col, columns);
          Rows(k, depth, row, rows, col, columns);
          k += depth;
        } while (k < args_.k);
      }
    }
  }

 private:
  // Of amx32 the tail is padded; the plain chain has no padding.
  static int64_t Padded(int64_t depth) {
    return kBlocks ? RoundUp(depth, kBlock) : depth;
  }
  // A panel of 16 columns where there are no more.
  static int64_t PanelWidth(int64_t columns) {
    return columns <= kLanes ? kLanes : kTileColumns;
  }

  void PackB(int64_t k, int64_t depth, int64_t col, int64_t columns) {
    const int64_t padded = Padded(depth);
    for (int64_t j = 0; j < columns; j += kTileColumns) {
      const int64_t wide = std::min<int64_t>(kTileColumns, columns - j);
      const View<T> from{b_.at(k, col + j), b_.row_stride, b_.col_stride};
      PackPanel(from, wide, PanelWidth(wide), depth, padded,
                packed_b_ + j * padded);
    }
  }

  void Rows(int64_t k, int64_t depth, int64_t row, int64_t rows, int64_t col,
            int64_t columns) {
    float* waiting = waiting_;
    for (int64_t r = 0; r < rows;) {
      const int64_t tile_rows = NextTileRows(rows - r);
      const View<T> from{a_.at(row + r, k), a_.row_stride, a_.col_stride};
      const int64_t computed =
          std::min<int64_t>(RoundUp(tile_rows, 2), kTileRows);
      PackA(from, tile_rows, args_.m - row - r, computed, depth, Padded(depth),
            packed_a_);
      for (int64_t j = 0; j < columns; j += kTileColumns) {
        Tile(k, depth, row + r, tile_rows, col + j,
             std::min<int64_t>(kTileColumns, columns - j),
             packed_b_ + j * Padded(depth), waiting);
        waiting += kTileFloats;
      }
      r += tile_rows;
    }
  }

  void Tile(int64_t k, int64_t depth, int64_t row, int64_t rows, int64_t col,
            int64_t columns, const float* panel, float* waiting) {
    const bool first = k == 0;
    const bool last = k + depth == args_.k;
    const TileFunction tile = kTileVectors == 1 || columns <= kLanes
                                  ? TileOf<kBlocks, 1>(rows)
                                  : TileOf<kBlocks, kTileVectors>(rows);
    if (!cut_.sums_wait_in_c) {
      float* sums = first && last ? tile_ : waiting;
      tile(packed_a_, panel, Padded(depth), sums, kTileColumns, first);
      if (last) FinishTile(args_, sums, row, col, rows, columns);
      return;
    }
    const bool even_rows = rows == 1 || rows % 2 == 0;
    if (!kBlocks && even_rows && columns % kLanes == 0) {
      float* c = static_cast<float*>(args_.c) + row * args_.c_row_stride + col;
      tile(packed_a_, panel, depth, c, args_.c_row_stride, first);
      return;
    }
    if (!first) ReloadTile(args_, tile_, row, col, rows, columns);
    tile(packed_a_, panel, Padded(depth), tile_, kTileColumns, first);
    FinishTile(args_, tile_, row, col, rows, columns);
  }

  const MatmulArgs& args_;
  const View<T> a_;
  const View<T> b_;
  const Cut cut_;
  alignas(64) float packed_b_[kPackedFloats];
  alignas(64) float packed_a_[kTileRows * kRowStride];
  alignas(64) float tile_[kTileFloats];
  alignas(64) float waiting_[kWaitingTiles * kTileFloats];
};

static inline void MatmulBlock(const MatmulArgs& args) {
  if (args.m == 0 || args.n == 0) return;
  if (args.a.dtype == DType::kF32) {
    BlockedProduct<float>(args).Run();
  } else if (args.a.dtype == DType::kBF16) {
    BlockedProduct<BF16>(args).Run();
  } else {
    BlockedProduct<F16>(args).Run();
  }
}

// Elements further on, whatever their type.
static inline const void* Advance(const void* data, DType dtype,
                                  int64_t elements) {
  const int64_t size = dtype == DType::kF32 ? 4 : 2;
  return static_cast<const char*>(data) + elements * size;
}

static inline void MatmulBlock(const MatmulArgs& args, int64_t k_begin,
                               int64_t k_end) {
  MatmulArgs part = args;
  part.k = k_end - k_begin;
  part.a.data = Advance(args.a.data, args.a.dtype, k_begin * args.a.col_stride);
  part.b.data = Advance(args.b.data, args.b.dtype, k_begin * args.b.row_stride);
  MatmulBlock(part);
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_
