#include "model/kernels/gated_norm/gated_norm.h"

#include "model/device.h"
#include "model/kernels/norm_dispatch.h"
#include "model/kernels/registry.h"

namespace lockstep {

LS_DECLARE_KERNEL(GatedNormForwardRange, const GatedNormForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(GatedNormBackwardRange, const GatedNormBackwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(GatedNormWeightRange, const GatedNormBackwardArgs& args,
                  int64_t begin, int64_t end)

namespace {

NormKernels<GatedNormForwardArgs, GatedNormBackwardArgs> Kernels() {
  return {LS_KERNEL_VARIANTS(GatedNormForwardRange, "gated_norm", kNormOrder),
          LS_KERNEL_VARIANTS(GatedNormBackwardRange, "gated_norm", kNormOrder),
          LS_KERNEL_VARIANTS(GatedNormWeightRange, "gated_norm", kNormOrder)};
}

}  // namespace

void GatedNormForward(Device& device, const GatedNormForwardArgs& args) {
  Kernels().RunForward(device, args);
}

void GatedNormBackward(Device& device, const GatedNormBackwardArgs& args) {
  Kernels().RunBackward(device, args);
}

KernelInfo GatedNormInfo() {
  return {"gated_norm",
          kNormOrder,
          "N1, N2, N7, N8, N13",
          Kernels().forward.Levels(),
          "",
          &GatedNormCheck};
}

}  // namespace lockstep
