// Small matrix products inside a kernel, over operands already in fp32 panels.
//
// For the scan and attention, which multiply what they have just computed:
// their operands never exist as bf16 matrices in memory, so MatmulBlock, which
// widens and packs storage, would cost a pass each way. Values must already be
// rounded to the storage type; the order of every sum is that of matmul.h (N3):
//
//   kAmx32 = false  one FMA chain over ascending k from +0
//   kAmx32 = true   blocks of 32; even and odd chains from +0; block = even +
//                   odd; blocks added ascending. k must be a multiple of 32:
//                   the caller keeps zeros behind a tail, in both operands.
//
// Include it in *_kernel.cc files only: everything is static in
// LOCKSTEP_ISA_NS. Tiles are chosen for registers; no tile can change a bit,
// since each output is a sum of its own.

#ifndef MODEL_KERNELS_BLOCK_PRODUCT_H_
#define MODEL_KERNELS_BLOCK_PRODUCT_H_

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "determinism/inline.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

// What a register holds, and the tile that keeps all accumulators in registers.
#if defined(__AVX512F__)
using Lanes = __m512;
constexpr int kLanes = 16;
constexpr int kTileRows = 4;
constexpr int kTileVectors = 2;
LS_MATH_INLINE Lanes LoadLanes(const float* p) { return _mm512_loadu_ps(p); }
LS_MATH_INLINE void StoreLanes(float* p, Lanes v) { _mm512_storeu_ps(p, v); }
LS_MATH_INLINE Lanes FillLanes(float v) { return _mm512_set1_ps(v); }
LS_MATH_INLINE Lanes AddLanes(Lanes a, Lanes b) { return _mm512_add_ps(a, b); }
LS_MATH_INLINE Lanes FmaLanes(Lanes a, Lanes b, Lanes c) {
  return _mm512_fmadd_ps(a, b, c);
}
#elif defined(__AVX2__)
using Lanes = __m256;
constexpr int kLanes = 8;
constexpr int kTileRows = 2;
constexpr int kTileVectors = 2;
LS_MATH_INLINE Lanes LoadLanes(const float* p) { return _mm256_loadu_ps(p); }
LS_MATH_INLINE void StoreLanes(float* p, Lanes v) { _mm256_storeu_ps(p, v); }
LS_MATH_INLINE Lanes FillLanes(float v) { return _mm256_set1_ps(v); }
LS_MATH_INLINE Lanes AddLanes(Lanes a, Lanes b) { return _mm256_add_ps(a, b); }
LS_MATH_INLINE Lanes FmaLanes(Lanes a, Lanes b, Lanes c) {
  return _mm256_fmadd_ps(a, b, c);
}
#else
using Lanes = float;
constexpr int kLanes = 1;
constexpr int kTileRows = 1;
constexpr int kTileVectors = 4;
LS_MATH_INLINE Lanes LoadLanes(const float* p) { return *p; }
LS_MATH_INLINE void StoreLanes(float* p, Lanes v) { *p = v; }
LS_MATH_INLINE Lanes FillLanes(float v) { return v; }
LS_MATH_INLINE Lanes AddLanes(Lanes a, Lanes b) { return a + b; }
LS_MATH_INLINE Lanes FmaLanes(Lanes a, Lanes b, Lanes c) {
  return __builtin_fmaf(a, b, c);
}
#endif

// The left operand, [m, k]: element (i, p) is data[i * row + p * col], so a
// transposed operand needs no copy.
struct LeftPanel {
  const float* data;
  int64_t row;
  int64_t col;
};

// The right operand [k, n] and the output [m, n]: columns adjacent, rows
// `stride` apart. Both are read and written up to n rounded up to 16.
struct RightPanel {
  const float* data;
  int64_t stride;
};
struct OutputPanel {
  float* data;
  int64_t stride;
};

constexpr int64_t kBlock = 32;    // of N3 and of the causal mask
constexpr int64_t kColumns = 16;  // columns are padded to this

LS_MATH_INLINE int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// One step of every chain of a tile: sum += a's column p times b's row p.
template <int kRows, int kVectors>
LS_MATH_INLINE void StepChains(const float* a, int64_t row, const float* b,
                               Lanes (&sum)[kRows][kVectors]) {
  Lanes right[kVectors];
  for (int v = 0; v < kVectors; ++v) right[v] = LoadLanes(b + v * kLanes);
  for (int r = 0; r < kRows; ++r) {
    const Lanes left = FillLanes(a[r * row]);
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = FmaLanes(left, right[v], sum[r][v]);
    }
  }
}

template <int kRows, int kVectors>
LS_MATH_INLINE void ClearChains(Lanes (&sum)[kRows][kVectors]) {
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = FillLanes(0.0f);
  }
}

// 32 positions of amx32, added to sum.
template <int kRows, int kVectors>
LS_MATH_INLINE void AddBlock(const float* a, LeftPanel left, const float* b,
                             int64_t b_stride, Lanes (&sum)[kRows][kVectors]) {
  Lanes even[kRows][kVectors];
  Lanes odd[kRows][kVectors];
  ClearChains(even);
  ClearChains(odd);
  for (int64_t p = 0; p < kBlock; p += 2) {
    StepChains(a + p * left.col, left.row, b + p * b_stride, even);
    StepChains(a + (p + 1) * left.col, left.row, b + (p + 1) * b_stride, odd);
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = AddLanes(sum[r][v], AddLanes(even[r][v], odd[r][v]));
    }
  }
}

template <bool kAmx32, bool kAccumulate, int kRows, int kVectors>
LS_MATH_INLINE void TileProduct(int64_t k, LeftPanel a, RightPanel b,
                                OutputPanel c) {
  Lanes sum[kRows][kVectors];
  ClearChains(sum);
  if constexpr (kAmx32) {
    for (int64_t p = 0; p < k; p += kBlock) {
      AddBlock(a.data + p * a.col, a, b.data + p * b.stride, b.stride, sum);
    }
  } else {
    for (int64_t p = 0; p < k; ++p) {
      StepChains(a.data + p * a.col, a.row, b.data + p * b.stride, sum);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      float* out = c.data + r * c.stride + v * kLanes;
      if constexpr (kAccumulate) {
        sum[r][v] = AddLanes(LoadLanes(out), sum[r][v]);
      }
      StoreLanes(out, sum[r][v]);
    }
  }
}

// All rows of a strip of kVectors registers.
template <bool kAmx32, bool kAccumulate, int kVectors>
static void StripProduct(int64_t m, int64_t k, LeftPanel a, RightPanel b,
                         OutputPanel c) {
  int64_t i = 0;
  for (; i + kTileRows <= m; i += kTileRows) {
    TileProduct<kAmx32, kAccumulate, kTileRows, kVectors>(
        k, {a.data + i * a.row, a.row, a.col}, b,
        {c.data + i * c.stride, c.stride});
  }
  for (; i < m; ++i) {
    TileProduct<kAmx32, kAccumulate, 1, kVectors>(
        k, {a.data + i * a.row, a.row, a.col}, b,
        {c.data + i * c.stride, c.stride});
  }
}

// c = a . b, or with kAccumulate c = c + (a . b), one addition. k = 0 gives +0.
template <bool kAmx32, bool kAccumulate = false>
static void BlockProduct(int64_t m, int64_t n, int64_t k, LeftPanel a,
                         RightPanel b, OutputPanel c) {
  constexpr int64_t kStrip = kTileVectors * kLanes;
  const int64_t columns = RoundUp(n, kColumns);
  int64_t j = 0;
  for (; j + kStrip <= columns; j += kStrip) {
    StripProduct<kAmx32, kAccumulate, kTileVectors>(
        m, k, a, {b.data + j, b.stride}, {c.data + j, c.stride});
  }
  for (; j < columns; j += kLanes) {
    StripProduct<kAmx32, kAccumulate, 1>(m, k, a, {b.data + j, b.stride},
                                         {c.data + j, c.stride});
  }
}

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_BLOCK_PRODUCT_H_
