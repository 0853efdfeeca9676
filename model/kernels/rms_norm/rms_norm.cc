#include "model/kernels/rms_norm/rms_norm.h"

#include "model/device.h"
#include "model/kernels/norm_dispatch.h"
#include "model/kernels/registry.h"

namespace lockstep {

LS_DECLARE_KERNEL(RmsNormForwardRange, const RmsNormForwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(RmsNormBackwardRange, const RmsNormBackwardArgs& args,
                  int64_t begin, int64_t end)
LS_DECLARE_KERNEL(RmsNormWeightRange, const RmsNormBackwardArgs& args,
                  int64_t begin, int64_t end)

namespace {

NormKernels<RmsNormForwardArgs, RmsNormBackwardArgs> Kernels() {
  return {LS_KERNEL_VARIANTS(RmsNormForwardRange, "rms_norm", kNormOrder),
          LS_KERNEL_VARIANTS(RmsNormBackwardRange, "rms_norm", kNormOrder),
          LS_KERNEL_VARIANTS(RmsNormWeightRange, "rms_norm", kNormOrder)};
}

}  // namespace

void RmsNormForward(Device& device, const RmsNormForwardArgs& args) {
  Kernels().RunForward(device, args);
}

void RmsNormBackward(Device& device, const RmsNormBackwardArgs& args) {
  Kernels().RunBackward(device, args);
}

KernelInfo RmsNormInfo() {
  return {
      "rms_norm", kNormOrder,   "N1, N2, N7, N13", Kernels().forward.Levels(),
      "",         &RmsNormCheck};
}

}  // namespace lockstep
