// AdamW on fp32 masters, and the runtime weight made from them (N10).
//
// Loshchilov and Hutter 2019, alg. 2 with decoupled decay; eps outside the root
// (MODEL 3). Every operation is fp32 and rounds once (N2), in this order:
//   g'   = grad * clip
//   m    = beta1 * m + (1 - beta1) * g'
//   v    = beta2 * v + (1 - beta2) * (g' * g')
//   up   = (m / c1) / (sqrt(v / c2) + eps) + weight_decay * p
//   p    = p - lr * up
//   runtime = the one conversion of p (cast.h, storage.h)
// No FMA. The scalars come in fp64, computed in one place (N6), and are rounded
// once to fp32 here; 1 - beta is taken in fp64 first. c1 = 1 - beta1^t and c2 =
// 1 - beta2^t are the caller's, by fixed-order squaring. Not here: clipping's
// norm, the schedule, skipped steps.

#ifndef MODEL_KERNELS_ADAMW_ADAMW_H_
#define MODEL_KERNELS_ADAMW_ADAMW_H_

#include <cstdint>
#include <functional>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct AdamWArgs {
  int64_t n = 0;
  const float* grad = nullptr;  // [n], final (grad_finalize.h)
  float* master = nullptr;      // [n], in and out, as m and v are
  float* m = nullptr;
  float* v = nullptr;
  void* runtime = nullptr;  // [n], written; null: none
  DType runtime_dtype{};    // F32, BF16 or F16; read only if runtime is given
  double lr = 0;
  double beta1 = 0;
  double beta2 = 0;
  double eps = 0;
  double weight_decay = 0;      // 0 for tensors without decay
  double clip = 1;              // factor on the gradient
  double bias_correction1 = 0;  // 1 - beta1^t
  double bias_correction2 = 0;  // 1 - beta2^t
};
// `done`, if given, is told of each block [begin, end) right behind its update,
// while it is in cache, by the thread that made it.
using AdamWBlockDone = std::function<void(int64_t begin, int64_t end)>;
void AdamW(Device& device, const AdamWArgs& args,
           const AdamWBlockDone& done = {});

KernelInfo AdamWInfo();
// The operation on fixed inputs (self_check.h).
std::string AdamWCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_ADAMW_ADAMW_H_
