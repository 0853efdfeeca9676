#include "model/device.h"
#include "model/kernels/adamw/adamw.h"
#include "model/kernels/self_check.h"

namespace lockstep {

std::string AdamWCheck(Device& device, CheckFault fault) {
  SelfCheck check(fault);
  for (const DType dtype : kCheckTypes) {
    AdamWArgs args;
    args.n = 24'593;
    args.grad = check.Floats(args.n);
    args.master = check.InOut(1, args.n).as<float>();
    args.m = check.InOut(1, args.n).as<float>();
    args.v = check.InOut(1, args.n, 1.0f).as<float>();
    args.runtime = check.Output(dtype, 1, args.n).data();
    args.runtime_dtype = dtype;
    args.lr = 3e-3;
    args.beta1 = 0.9;
    args.beta2 = 0.95;
    args.eps = 1e-8;
    args.weight_decay = 0.1;
    args.clip = 0.7;
    args.bias_correction1 = 0.271;
    args.bias_correction2 = 0.142625;
    AdamW(device, args);
  }
  return check.Digest();
}

}  // namespace lockstep
