// Packs BF16 operands for tile registers: tile by tile, 1 KiB each, so that a
// load touches sixteen lines in a row.
//
//   a   per block of 32 positions: 32 rows of 32 elements
//   b   per block: 16 columns after 16 columns, each as 16 pairs of positions x
//       16 columns x 2 positions
//
// Bits are moved, nothing is converted. The wide loads are AVX-512's, which
// every processor with AMX has. A part of matmul_amx.h; empty at other levels.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_AMX_PACK_H_
#define MODEL_KERNELS_MATMUL_MATMUL_AMX_PACK_H_

#if defined(LOCKSTEP_TILES)

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "determinism/dtype.h"
#include "model/kernels/matmul/matmul_pack.h"
#include "model/kernels/matmul/matmul_tile.h"
#include "model/kernels/simd.h"
#include "model/kernels/tiles.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

constexpr int64_t kAmxRows = 32;

static inline BF16 At(View<BF16> from, int64_t row, int64_t col, int64_t rows,
                      int64_t columns) {
  return row < rows && col < columns ? *from.at(row, col) : BF16{0};
}

// Block by block of positions; rows from `rows` on and positions from `depth`
// on are +0.
static inline void PackTilesOfA(View<BF16> from, int64_t rows,
                                int64_t available, int64_t computed,
                                int64_t depth, int64_t padded, BF16* to) {
  for (int64_t k = 0; k < padded; k += kBlock, to += kAmxRows * kBlock) {
    const int64_t here = std::min(kBlock, depth - k);
    const auto mask =
        static_cast<__mmask32>(here == kBlock ? 0xffffffffu : (1u << here) - 1);
    if (from.col_stride == 1) {
      for (int64_t r = 0; r < computed; ++r) {
        _mm512_storeu_si512(to + r * kBlock,
                            r < rows
                                ? _mm512_maskz_loadu_epi16(mask, from.at(r, k))
                                : _mm512_setzero_si512());
      }
    } else if (from.row_stride == 1) {
      for (int64_t r = 0; r < computed; r += kLanes) {
        for (int64_t half = 0; half < kBlock; half += kLanes) {
          F32x16 piece[16];
          LoadTransposed(from.at(r, k + half), from.col_stride,
                         std::max<int64_t>(available - r, 0), here - half,
                         piece);
          for (int64_t i = 0; i < kLanes; ++i) {
            BF16* const row = to + (r + i) * kBlock + half;
            Store(r + i < rows ? piece[i] : Zero(), row);
          }
        }
      }
    } else {
      for (int64_t r = 0; r < computed; ++r) {
        for (int64_t i = 0; i < kBlock; ++i) {
          to[r * kBlock + i] = At(from, r, k + i, rows, depth);
        }
      }
    }
  }
}

// 16 columns of one block: row p of the register has positions 2p and 2p + 1 of
// every column.
static inline void PackPairs(View<BF16> from, int64_t columns, int64_t depth,
                             BF16* to) {
  if (from.col_stride == 1) {
    const auto mask = static_cast<__mmask16>(
        columns >= kLanes ? 0xffffu : (1u << columns) - 1);
    const auto row = [&](int64_t k) {
      return k < depth ? _mm512_cvtepu16_epi32(
                             _mm256_maskz_loadu_epi16(mask, from.at(k, 0)))
                       : _mm512_setzero_si512();
    };
    for (int64_t p = 0; p < kRegisterRows; ++p) {
      _mm512_storeu_si512(
          to + p * 2 * kLanes,
          _mm512_or_si512(row(2 * p), _mm512_slli_epi32(row(2 * p + 1), 16)));
    }
  } else if (from.row_stride == 1) {
    const auto mask = static_cast<__mmask32>(
        depth >= kBlock ? 0xffffffffu : (1u << depth) - 1);
    F32x16 pairs[16];
    for (int64_t j = 0; j < kLanes; ++j) {
      pairs[j].v = j < columns ? _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(
                                     mask, from.at(0, j)))
                               : _mm512_setzero_ps();
    }
    Transpose16x16(pairs);
    for (int64_t p = 0; p < kRegisterRows; ++p) {
      _mm512_storeu_si512(to + p * 2 * kLanes, _mm512_castps_si512(pairs[p].v));
    }
  } else {
    for (int64_t k = 0; k < kBlock; ++k) {
      for (int64_t j = 0; j < kLanes; ++j) {
        to[k / 2 * 2 * kLanes + j * 2 + k % 2] = At(from, k, j, depth, columns);
      }
    }
  }
}

static inline void PackTilesOfB(View<BF16> from, int64_t columns, int64_t width,
                                int64_t depth, int64_t padded, BF16* to) {
  for (int64_t k = 0; k < padded; k += kBlock) {
    for (int64_t j = 0; j < width; j += kLanes, to += kRegisterElements) {
      const View<BF16> piece{from.at(k, j), from.row_stride, from.col_stride};
      PackPairs(piece, std::max<int64_t>(columns - j, 0),
                std::min(kBlock, depth - k), to);
    }
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // defined(LOCKSTEP_TILES)

#endif  // MODEL_KERNELS_MATMUL_MATMUL_AMX_PACK_H_
