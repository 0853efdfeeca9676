// The matrix product of matmul.h for use inside another kernel of the same
// instruction-set level: one thread, no allocation, no checks.
//
// Include it in *_kernel.cc files only; all of it is static in LOCKSTEP_ISA_NS,
// so each level gets a copy of its own. The caller holds a ScopedFloatEnv (every
// ParallelFor range does). It packs its operands into about 0.8 MiB of stack.
//
//   MatmulBlock(args);                    // args.batch == 1
//   MatmulBlock(args, k_begin, k_end);    // part of the contraction only
//
// With a range of k, begin and end being multiples of 32 (or end = args.k), the
// result is the sum over those positions from +0, in the order of matmul.h:
// how a causal product skips blocks that the mask empties (N13).

#ifndef MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_
#define MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_

#include <cstdint>

#include "model/kernels/matmul/matmul.h"

namespace lockstep {
namespace LOCKSTEP_ISA_NS {

static inline void MatmulBlock(const MatmulArgs& args);
static inline void MatmulBlock(const MatmulArgs& args, int64_t k_begin,
                               int64_t k_end);

}  // namespace LOCKSTEP_ISA_NS
}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_BLOCK_H_
