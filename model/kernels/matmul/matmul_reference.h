// The contract of matmul.h, word for word and nothing else: three loops, and
// one over slices.
//
// Truth for tests. It shares no code with the kernels, and is slow.

#ifndef MODEL_KERNELS_MATMUL_MATMUL_REFERENCE_H_
#define MODEL_KERNELS_MATMUL_MATMUL_REFERENCE_H_

#include "model/kernels/matmul/matmul.h"

namespace lockstep {

void MatmulReference(const MatmulArgs& args);

// The other order: one chain over ascending k for every operand type. That it
// differs from amx32 in bits is what the canary checks.
void MatmulPlainChain(const MatmulArgs& args);

}  // namespace lockstep

#endif  // MODEL_KERNELS_MATMUL_MATMUL_REFERENCE_H_
