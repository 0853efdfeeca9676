// The matrix product of matmul.h for use inside another kernel of the same
// instruction-set level: one thread, no allocation, no checks.
//
// Include it in *_kernel.cc files only; all of it is static in LOCKSTEP_ISA_NS,
// so each level gets a copy of its own. The caller holds a ScopedFloatEnv
// (every ParallelFor range does). It packs its operands into 1.3 MiB of stack,
// of which a product without slices touches 0.8.
//
//   MatmulBlock(args);                    // args.batch == 1
//   MatmulBlock(args, k_begin, k_end);    // part of the contraction only
//
// With a range of k, begin and end being multiples of 32 (or end = args.k), the
// result is the sum over those positions from +0, in the order of matmul.h:
// how a causal product skips blocks that the mask empties (N13). Not together
// with slices.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_
#define MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_

#include <algorithm>
#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/inline.h"
#include "model/kernels/grid_add.h"
#include "model/kernels/matmul/matmul.h"
#include "model/kernels/matmul/matmul_cut.h"
#include "model/kernels/matmul/matmul_output.h"
#include "model/kernels/matmul/matmul_runs.h"
#include "model/kernels/matmul/matmul_tile.h"
#include "model/kernels/matmul/matmul_tiling.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// One call: T is the operands' type.
template <class T>
class BlockedProduct {
 public:
  using Tiling = TilingOf<T>;
  using Packed = typename Tiling::Packed;
  using Sizes = TileSizes<Tiling>;

  explicit BlockedProduct(const MatmulArgs& args)
      : args_(args),
        a_{static_cast<const T*>(args.a.data), args.a.row_stride,
           args.a.col_stride},
        b_{static_cast<const T*>(args.b.data), args.b.row_stride,
           args.b.col_stride},
        runs_(args, Tiling::kBlocks),
        cut_(CutOf<Tiling>(args, runs_)),
        grid_(args.grid_exponent) {}

  void Run() {
    [[maybe_unused]] const typename Tiling::Setup setup{};
    for (int64_t col = 0; col < args_.n; col += cut_.columns) {
      const int64_t columns = std::min(cut_.columns, args_.n - col);
      for (int64_t row = 0; row < args_.m; row += cut_.rows) {
        const int64_t rows = std::min(cut_.rows, args_.m - row);
        runs_.Restart();
        while (runs_.Next(cut_.depth, &run_)) {
          PackB(col, columns);
          Rows(row, rows, col, columns);
        }
      }
    }
  }

 private:
  // A panel of 16 columns where there are no more.
  static int64_t PanelWidth(int64_t columns) {
    return columns <= kLanes ? kLanes : kTileColumns;
  }

  void PackB(int64_t col, int64_t columns) {
    for (int64_t j = 0; j < columns; j += kTileColumns) {
      const int64_t wide = std::min<int64_t>(kTileColumns, columns - j);
      Packed* to = packed_b_ + j * run_.padded;
      for (int64_t i = 0; i < run_.count; ++i) {
        const Piece& piece = run_.pieces[i];
        const View<T> from{b_.at(piece.k, col + j), b_.row_stride,
                           b_.col_stride};
        Tiling::PackB(from, wide, PanelWidth(wide), piece.depth, piece.padded,
                      to);
        to += piece.padded * PanelWidth(wide);
      }
    }
  }

  void PackRows(int64_t row, int64_t tile_rows) {
    Packed* to = packed_a_;
    for (int64_t i = 0; i < run_.count; ++i) {
      const Piece& piece = run_.pieces[i];
      const View<T> from{a_.at(row, piece.k), a_.row_stride, a_.col_stride};
      Tiling::PackA(from, tile_rows, args_.m - row, piece.depth, piece.padded,
                    to);
      to += Tiling::StepA(piece.padded);
    }
  }

  void Rows(int64_t row, int64_t rows, int64_t col, int64_t columns) {
    float* waiting = waiting_;
    for (int64_t r = 0; r < rows;) {
      const int64_t tile_rows = NextTileRows<Tiling>(rows - r);
      PackRows(row + r, tile_rows);
      for (int64_t j = 0; j < columns; j += kTileColumns) {
        Tile(row + r, tile_rows, col + j,
             std::min<int64_t>(kTileColumns, columns - j),
             packed_b_ + j * run_.padded, waiting);
        waiting += cut_.waiting * Sizes::kFloats;
      }
      r += tile_rows;
    }
  }

  void Tile(int64_t row, int64_t rows, int64_t col, int64_t columns,
            const Packed* panel, float* waiting) {
    const auto tile = Tiling::TileFor(rows, columns);
    if (!cut_.sums_wait_in_c) {
      float* sums = cut_.current_waits ? waiting : tile_;
      tile(packed_a_, panel, run_.padded, sums, kTileColumns, run_.first);
      if (!run_.last) return;
      if (cut_.current_waits) waiting += Sizes::kFloats;
      EndSlice(sums, waiting, row, col, rows, columns);
      return;
    }
    if (Tiling::kInPlace && Tiling::Fits(rows, columns)) {
      float* c = static_cast<float*>(args_.c) + row * args_.c_row_stride + col;
      tile(packed_a_, panel, run_.padded, c, args_.c_row_stride, run_.first);
      return;
    }
    if (!run_.first) ReloadTile(args_, tile_, row, col, rows, columns);
    tile(packed_a_, panel, run_.padded, tile_, kTileColumns, run_.first);
    FinishTile(args_, tile_, row, col, rows, columns);
  }

  // What becomes of a slice's sums. In the tree, slice 0b0111 completes three
  // pairs, slice 0b1011 two: as many as its number ends in ones. `partials` has
  // one tile a level, the sum of an earlier left half.
  void EndSlice(float* sums, float* partials, int64_t row, int64_t col,
                int64_t rows, int64_t columns) {
    if (args_.c_dtype == DType::kI64) {
      AddToGrid(args_, sums, row, col, rows, columns, grid_);
      return;
    }
    if (args_.slice_use == SliceUse::kTree) {
      for (int64_t left = run_.slice; left % 2 == 1; left /= 2) {
        AddTile(partials, sums, rows);
        partials += Sizes::kFloats;
      }
      if (run_.slice + 1 < runs_.slice_count()) {
        std::copy_n(sums, rows * kTileColumns, partials);
        return;
      }
    }
    FinishTile(args_, sums, row, col, rows, columns);
  }

  const MatmulArgs& args_;
  const View<T> a_;
  const View<T> b_;
  Runs runs_;
  const Cut cut_;
  const GridScale grid_;
  struct Run run_;
  alignas(64) Packed packed_b_[kPackedElements];
  alignas(64) Packed packed_a_[Tiling::kPackedRows];
  alignas(64) float tile_[Sizes::kFloats];
  alignas(64) float waiting_[Sizes::kWaiting * Sizes::kFloats];
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
  const int64_t size = dtype == DType::kI64 ? 8 : dtype == DType::kF32 ? 4 : 2;
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
