#include "model/device.h"
#include "model/kernels/cast/cast.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string CastCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  for (const DType dtype : kCheckTypes) {
    CastArgs args;
    args.n = 24'593;
    args.src = check.Floats(args.n);
    args.src_dtype = DType::kF32;
    args.dst = check.Output(dtype, 1, args.n).data();
    args.dst_dtype = dtype;
    Cast(device, args);
    CastArgs back = args;
    back.src = args.dst;
    back.src_dtype = dtype;
    back.dst = check.OutputFloats(args.n);
    back.dst_dtype = DType::kF32;
    Cast(device, back);
  }
  return check.Digest();
}

}  // namespace lockstep
