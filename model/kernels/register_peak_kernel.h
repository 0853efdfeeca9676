// Chains of fused multiply-adds that never leave the registers, per level.

#ifndef MODEL_KERNELS_REGISTER_PEAK_KERNEL_H_
#define MODEL_KERNELS_REGISTER_PEAK_KERNEL_H_

#include <cstdint>

#include "model/kernels/registry.h"

namespace lockstep {

// Does *flops floating-point operations in `rounds` rounds; `sink` gets 16
// floats that depend on all of them.
LS_DECLARE_KERNEL(RegisterFmas, int64_t rounds, float* sink, int64_t* flops)

// The same of BF16 products in tile registers; they leave nothing in the sink.
namespace amx {
void RegisterTileProducts(int64_t rounds, float* sink, int64_t* flops);
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_REGISTER_PEAK_KERNEL_H_
