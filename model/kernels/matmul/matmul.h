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
// It is no BLAS: no alpha and beta, no in-place use (c must not overlap a or
// b), and no choice of algorithm that could show in the bits.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_H_
#define MODEL_KERNELS_MATMUL_MATMUL_H_

#include <cstdint>

#include "determinism/dtype.h"
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

struct MatmulArgs {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  MatrixRef a{};      // [m, k]
  MatrixRef b{};      // [k, n], dtype as a
  void* c = nullptr;  // [m, n], columns adjacent
  DType c_dtype = DType::kF32;
  int64_t c_row_stride = 0;
  bool accumulate = false;  // c F32 only
  // Independent products; matrix i starts i * batch_stride elements further.
  int64_t batch = 1;
  int64_t a_batch_stride = 0;
  int64_t b_batch_stride = 0;
  int64_t c_batch_stride = 0;
};

// Checks the arguments (a bad combination is a bug), counts the FLOPs, and
// computes on the device's threads.
void Matmul(Device& device, const MatmulArgs& args);

KernelInfo MatmulInfo();

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_H_
