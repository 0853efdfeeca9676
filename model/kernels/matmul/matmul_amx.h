// BF16 products in the tile registers of AMX: the order amx32 is what TDPBF16PS
// does, one block of 32 an instruction (N3).
//
// What it is: a tiling (matmul_tiling.h) of 32 x 32 outputs, which take four
// tile registers, two more for a and two for b, over operands that are packed
// tile by tile (matmul_amx_pack.h).
//
// What it is not: a promise about the processor. Whether its tiles follow the
// order is asked once a process (matmul_levels.cc).
//
// Empty at other levels.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_AMX_H_
#define MODEL_KERNELS_MATMUL_MATMUL_AMX_H_

#if defined(LOCKSTEP_TILES)

#include <cstdint>

#include "determinism/dtype.h"
#include "determinism/inline.h"
#include "model/kernels/matmul/matmul_amx_pack.h"
#include "model/kernels/matmul/matmul_pack.h"
#include "model/kernels/matmul/matmul_runs.h"
#include "model/kernels/matmul/matmul_tile.h"
#include "model/kernels/simd.h"
#include "model/kernels/tiles.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Sums of kRowTiles x kColumnTiles registers: 0 to 3. TileFunction's twin.
using AmxTileFunction = void (*)(const BF16* a, const BF16* b, int64_t depth,
                                 float* c, int64_t c_stride, bool first);

template <int kRowTiles, int kColumnTiles>
static void AmxTile(const BF16* a, const BF16* b, int64_t depth, float* c,
                    int64_t c_stride, bool first) {
  constexpr bool kTwoRows = kRowTiles == 2, kTwoColumns = kColumnTiles == 2;
  const int64_t row_bytes = c_stride * 4;
  float* const below = c + kRegisterRows * c_stride;
  if (first) {
    ZeroTile<0>();
    if constexpr (kTwoColumns) ZeroTile<1>();
    if constexpr (kTwoRows) ZeroTile<2>();
    if constexpr (kTwoRows && kTwoColumns) ZeroTile<3>();
  } else {
    LoadTile<0>(c, row_bytes);
    if constexpr (kTwoColumns) LoadTile<1>(c + kLanes, row_bytes);
    if constexpr (kTwoRows) LoadTile<2>(below, row_bytes);
    if constexpr (kTwoRows && kTwoColumns) {
      LoadTile<3>(below + kLanes, row_bytes);
    }
  }
  for (int64_t k = 0; k < depth; k += kBlock) {
    LoadTile<4>(a, kRegisterBytes);
    LoadTile<6>(b, kRegisterBytes);
    MultiplyTiles<0, 4, 6>();
    if constexpr (kTwoColumns) {
      LoadTile<7>(b + kRegisterElements, kRegisterBytes);
      MultiplyTiles<1, 4, 7>();
    }
    if constexpr (kTwoRows) {
      LoadTile<5>(a + kRegisterElements, kRegisterBytes);
      MultiplyTiles<2, 5, 6>();
      if constexpr (kTwoColumns) MultiplyTiles<3, 5, 7>();
    }
    a += 2 * kRegisterElements;
    b += kColumnTiles * kRegisterElements;
  }
  StoreTile<0>(c, row_bytes);
  if constexpr (kTwoColumns) StoreTile<1>(c + kLanes, row_bytes);
  if constexpr (kTwoRows) StoreTile<2>(below, row_bytes);
  if constexpr (kTwoRows && kTwoColumns)
    StoreTile<3>(below + kLanes, row_bytes);
}

struct AmxTiling {
  using Packed = BF16;
  enum : bool { kBlocks = true, kInPlace = true };
  enum : int64_t { kRows = kAmxRows, kPackedRows = kRows * kMaxDepth };
  using Setup = TileSetup;

  static int64_t ComputedRows(int64_t rows) {
    return RoundUp(rows, kRegisterRows);
  }
  static bool Fits(int64_t rows, int64_t columns) {
    return rows % kRegisterRows == 0 && columns % kLanes == 0;
  }
  static int64_t StepA(int64_t padded) { return padded * kRows; }
  static void PackA(View<BF16> from, int64_t rows, int64_t available,
                    int64_t depth, int64_t padded, BF16* to) {
    PackTilesOfA(from, rows, available, RoundUp(rows, kRegisterRows), depth,
                 padded, to);
  }
  static void PackB(View<BF16> from, int64_t columns, int64_t width,
                    int64_t depth, int64_t padded, BF16* to) {
    PackTilesOfB(from, columns, width, depth, padded, to);
  }
  static AmxTileFunction TileFor(int64_t rows, int64_t columns) {
    if (rows <= kRegisterRows) {
      return columns <= kLanes ? &AmxTile<1, 1> : &AmxTile<1, 2>;
    }
    return columns <= kLanes ? &AmxTile<2, 1> : &AmxTile<2, 2>;
  }
};

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // defined(LOCKSTEP_TILES)

#endif  // MODEL_KERNELS_MATMUL_MATMUL_AMX_H_
