// c = a . b, in the order that clause N3 writes down.
//
// Each output element is a sum of its own; no other element, tile, thread or
// instruction set has a say in it (N1). The order follows from the operands'
// type:
//
//   F32 operands   one FMA chain over ascending k:
//                    s = +0;  for k in 0..K-1:  s = fma(a[k], b[k], s)
//
//   BF16 or F16    `amx32`. Operands widened exactly to binary32, then
//                    s = +0
//                    for every block of 32 positions, ascending:
//                      even = +0;  for k = 0, 2, .. 30:  even = fma(a, b, even)
//                      odd  = +0;  for k = 1, 3, .. 31:  odd  = fma(a, b, odd)
//                      s = s + (even + odd)
//                  with positions beyond K as +0 in both operands: the tail is
//                  padded, never shortened (-0 + +0 is +0, so it matters).
//
// K = 0 gives +0. All arithmetic is binary32, round to nearest even, FTZ and
// DAZ (N2). The sum is then rounded once to the type of c, by integer
// arithmetic that flushes nothing (determinism/dtype.h), or with `accumulate`
// added to the F32 that c holds: c = c + s, one addition (a leaf of N5). NaNs
// that arithmetic makes have unspecified sign and payload.
//
// Slices (N4). With `slices` the contraction is cut: a slice is a list of
// segments of k, summed in list order from +0 as above, where amx32 pads *each
// segment* with +0 to a multiple of 32 on both operands, and the F32 chain runs
// on through the segments unpadded. (Either choice shows: an operation that
// underflows is flushed to a signed zero, so a sum can be -0, and a padded
// position turns it into +0.) A slice without positions is +0. Then, by
// slice_use:
//
//   kTree     a power of two of slices, added in binary32 as a balanced tree,
//             ((s0 + s1) + (s2 + s3)) + ...; the root is s above. With an F32 c
//             it is the partial sum of a rank that holds these slices;
//             slice_tree.h joins such partials by the same tree.
//   kLeaves   each slice is a leaf of N5: c = c + s0, then c + s1, ... in list
//             order, with `accumulate` or an I64 c only.
//
// The integer grid (N5). With an I64 c every leaf's sum g (without slices: the
// one sum) is rounded to q = RNE(g * 2^grid_exponent), and c = c + q modulo
// 2^64. An infinity, a NaN, and |g| * 2^grid_exponent >= 2^62 add 0; the
// maximum in grid_stats tells of all three (grid.h). c = nullptr is the probe
// of a tensor that has no exponent yet: the maximum, and nothing else.
//
// It is no BLAS: no alpha and beta, no in-place use (c must not overlap a or
// b), and no choice of algorithm that could show in the bits.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_H_
#define MODEL_KERNELS_MATMUL_MATMUL_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/grid.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

// A matrix somewhere in memory; element (i, j) is at data + i * row_stride +
// j * col_stride, counted in elements. A transpose swaps the strides. Any
// alignment of whole elements.
struct MatrixRef {
  const void* data;
  DType dtype;  // F32, BF16 or F16
  int64_t row_stride;
  int64_t col_stride;
};

// Positions [begin, end) of the contraction index, 0 <= begin <= end <= k.
struct KSegment {
  int64_t begin;
  int64_t end;
};
struct KSlice {
  const KSegment* segments;
  int64_t count;
};

enum class SliceUse : uint8_t { kTree, kLeaves };

struct MatmulArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatrixRef a{};                // [m, k]
  MatrixRef b{};                // [k, n], dtype as a
  void* c = nullptr;            // [m, n], columns adjacent
  DType c_dtype = DType::kF32;  // or BF16, F16, I64
  int64_t c_row_stride = 0;
  bool accumulate = false;  // c F32 only
  // Independent products; matrix i starts i * batch_stride elements further.
  int64_t batch = 1;
  int64_t a_batch_stride = 0;
  int64_t b_batch_stride = 0;
  int64_t c_batch_stride = 0;
  // None: all of k is one slice.
  const KSlice* slices = nullptr;
  int64_t slice_count = 0;
  SliceUse slice_use = SliceUse::kTree;
  // For an I64 c: e, at most 512 either way, and where the statistics of this
  // product's leaves are merged into (not null).
  int grid_exponent = 0;
  GridStats* grid_stats = nullptr;
};

// Checks the arguments (a bad combination is a bug), counts the FLOPs, and
// computes on the device's threads.
void Matmul(Device& device, const MatmulArgs& args);

KernelInfo MatmulInfo();
// The operation on fixed inputs (self_check.h).
std::string MatmulCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_H_
