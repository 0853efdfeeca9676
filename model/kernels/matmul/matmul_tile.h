// The innermost loops of the product: one tile of outputs over a run of k.
//
// Operands come packed and widened (matmul_pack.h). Lanes are output columns,
// so every output has a chain of its own and no lane ever meets another: the
// vector width cannot show in the bits. A tile may stop at any k (for amx32: at
// any multiple of 32) and go on later from the sums it stored, as binary32 in
// memory is binary32 in a register.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_TILE_H_
#define MODEL_KERNELS_MATMUL_MATMUL_TILE_H_

#include <cstdint>

#include "determinism/inline.h"
#include "model/kernels/simd.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// Rows times vectors of accumulators must fit the registers, with room for a
// row of b: 14 x 2 of 32 zmm; 6 x 2 ymm of 16.
#if defined(__AVX512F__)
constexpr int kTileRows = 14;
constexpr int kTileVectors = 2;
#elif defined(__AVX2__)
constexpr int kTileRows = 6;
constexpr int kTileVectors = 1;
#else
constexpr int kTileRows = 4;
constexpr int kTileVectors = 1;
#endif
constexpr int kTileColumns = kTileVectors * kLanes;

// The longest run of k that is packed at once, and the distance between the
// rows of a packed a: a constant, so that one register addresses all rows, and
// no multiple of 4096 bytes, so that they do not share a cache set.
constexpr int64_t kMaxDepth = 1024;
constexpr int64_t kRowStride = kMaxDepth + 16;

// Positions in a block of amx32.
constexpr int64_t kBlock = 32;

template <int kRows, int kVectors>
struct Sums {
  F32x16 at[kRows][kVectors];
};

// One chain an output, over `count` positions that lie `kStep` apart.
template <int kRows, int kVectors, int kStep>
LS_MATH_INLINE void Chain(const float* a, const float* b, int64_t count,
                          Sums<kRows, kVectors>& sums) {
  for (int64_t i = 0; i < count; ++i) {
    F32x16 b_row[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) b_row[v] = Load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const F32x16 a_element = Broadcast(a[r * kRowStride]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums.at[r][v] = Fma(a_element, b_row[v], sums.at[r][v]);
      }
    }
    a += kStep;
    b += kStep * kVectors * kLanes;
  }
}

template <int kRows, int kVectors>
LS_MATH_INLINE void SetZero(Sums<kRows, kVectors>& sums) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums.at[r][v] = Zero();
  }
}

// A tile's sums in memory: row r at c + r * c_stride. BlockTile, which visits
// them often, takes kTileColumns for the stride whatever it is told.
//   a   kRows rows of `depth` floats, kRowStride apart
//   b   `depth` rows of kVectors * 16 floats
// `first`: begin at +0 instead of what c holds.
using TileFunction = void (*)(const float* a, const float* b, int64_t depth,
                              float* c, int64_t c_stride, bool first);

// F32 operands: one chain over ascending k.
template <int kRows, int kVectors>
static void ChainTile(const float* a, const float* b, int64_t depth, float* c,
                      int64_t c_stride, bool first) {
  Sums<kRows, kVectors> sums;
  if (first) {
    SetZero(sums);
  } else {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        sums.at[r][v] = Load(c + r * c_stride + v * kLanes);
      }
    }
  }
  Chain<kRows, kVectors, 1>(a, b, depth, sums);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      Store(sums.at[r][v], c + r * c_stride + v * kLanes);
    }
  }
}

// BF16 and F16 operands: amx32. All registers work on the even chains, then all
// on the odd ones: two chains at once would halve the tile and double its
// reads. The sums over blocks wait in c, which is near; adds have pipes of
// their own.
template <int kRows, int kVectors>
static void BlockTile(const float* a, const float* b, int64_t depth, float* c,
                      int64_t /*c_stride*/, bool first) {
  constexpr int64_t kColumns = kVectors * kLanes;
  alignas(64) float even[kRows * kColumns];
  if (first) {
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        Store(Zero(), c + r * kTileColumns + v * kLanes);
      }
    }
  }
  for (int64_t k = 0; k < depth; k += kBlock) {
    // Without it GCC keeps c in spilled registers as well and stores it twice.
    asm volatile("" ::: "memory");
    Sums<kRows, kVectors> sums;
    SetZero(sums);
    Chain<kRows, kVectors, 2>(a + k, b + k * kColumns, kBlock / 2, sums);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        Store(sums.at[r][v], even + r * kColumns + v * kLanes);
      }
    }
    SetZero(sums);
    Chain<kRows, kVectors, 2>(a + k + 1, b + (k + 1) * kColumns, kBlock / 2,
                              sums);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        float* sum = c + r * kTileColumns + v * kLanes;
        const F32x16 block =
            Add(Load(even + r * kColumns + v * kLanes), sums.at[r][v]);
        Store(Add(Load(sum), block), sum);
      }
    }
  }
}

template <bool kBlocks, int kVectors, int kRows>
constexpr TileFunction TileOfRows() {
  if constexpr (kRows > kTileRows) {
    return nullptr;
  } else if constexpr (kBlocks) {
    return &BlockTile<kRows, kVectors>;
  } else {
    return &ChainTile<kRows, kVectors>;
  }
}

// The tile for up to `rows` rows and `vectors` vectors of columns. Rows come in
// even numbers (and 1), so a tile may compute a row too many.
template <bool kBlocks, int kVectors>
LS_MATH_INLINE TileFunction TileOf(int rows) {
  constexpr TileFunction kTiles[] = {
      TileOfRows<kBlocks, kVectors, 1>(),  TileOfRows<kBlocks, kVectors, 2>(),
      TileOfRows<kBlocks, kVectors, 4>(),  TileOfRows<kBlocks, kVectors, 6>(),
      TileOfRows<kBlocks, kVectors, 8>(),  TileOfRows<kBlocks, kVectors, 10>(),
      TileOfRows<kBlocks, kVectors, 12>(), TileOfRows<kBlocks, kVectors, 14>()};
  return kTiles[rows / 2 + (rows > 1 && rows % 2)];
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_TILE_H_
