// How a product's operands are packed and its tiles computed, by type and
// level.
//
// What it is: the choice between the FMA tiles of matmul_tile.h, over operands
// widened to float, and, at the amx level for BF16, the tile registers of
// matmul_amx.h. What it is not: loops; those of matmul_block.h are the same for
// both. A tiling has
//
//   Packed             what a packed operand is made of
//   kBlocks            amx32: runs of k are padded to whole blocks of 32
//   kInPlace           a tile's sums may lie in c itself, rows c_stride apart
//   kRows              of a tile; kTileColumns columns belong to each
//   ComputedRows(n)    rows that a tile of n computes
//   Fits(r, c)         whether a tile of c in place may have r x c outputs
//   PackA, StepA       rows of a; the distance between packed pieces
//   PackB              columns of b as one panel
//   TileFor(r, c)      the function that computes such a tile

#ifndef MODEL_KERNELS_MATMUL_MATMUL_TILING_H_
#define MODEL_KERNELS_MATMUL_MATMUL_TILING_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "determinism/dtype.h"
#include "determinism/inline.h"
#include "model/kernels/matmul/matmul_amx.h"
#include "model/kernels/matmul/matmul_pack.h"
#include "model/kernels/matmul/matmul_runs.h"
#include "model/kernels/matmul/matmul_tile.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

template <class T>
struct FmaTiling {
  using Packed = float;
  enum : bool {
    kBlocks = !std::is_same_v<T, float>,
    kInPlace = !kBlocks,
  };
  enum : int64_t { kRows = kTileRows, kPackedRows = kTileRows * kRowStride };
  struct Setup {};

  static int64_t ComputedRows(int64_t rows) {
    return std::min<int64_t>(RoundUp(rows, 2), kRows);
  }
  static bool Fits(int64_t rows, int64_t columns) {
    return (rows == 1 || rows % 2 == 0) && columns % kLanes == 0;
  }
  static int64_t StepA(int64_t padded) { return padded; }
  static void PackA(View<T> from, int64_t rows, int64_t available,
                    int64_t depth, int64_t padded, float* to) {
    LOCKSTEP_ISA_NS::PackA(from, rows, available, ComputedRows(rows), depth,
                           padded, to);
  }
  static void PackB(View<T> from, int64_t columns, int64_t width, int64_t depth,
                    int64_t padded, float* to) {
    PackPanel(from, columns, width, depth, padded, to);
  }
  static TileFunction TileFor(int64_t rows, int64_t columns) {
    return kTileVectors == 1 || columns <= kLanes
               ? TileOf<kBlocks, 1>(static_cast<int>(rows))
               : TileOf<kBlocks, kTileVectors>(static_cast<int>(rows));
  }
};

#if defined(LOCKSTEP_TILES)
template <class T>
using TilingOf =
    std::conditional_t<std::is_same_v<T, BF16>, AmxTiling, FmaTiling<T>>;
#else
template <class T>
using TilingOf = FmaTiling<T>;
#endif

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_TILING_H_
