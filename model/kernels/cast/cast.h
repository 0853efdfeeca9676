// Cast between fp32 and a storage type: the one conversion path of N10.
//
// F32 -> BF16 or F16 rounds to nearest even with the integer arithmetic of
// determinism/dtype.h; it flushes nothing, overflows to infinity, quiets NaNs.
// The way back is exact. F32 -> F32 copies bytes. adamw.h converts inline with
// the same function (storage.h).

#ifndef MODEL_KERNELS_CAST_CAST_H_
#define MODEL_KERNELS_CAST_CAST_H_

#include <cstdint>
#include <string>

#include "determinism/dtype.h"
#include "model/kernels/registry.h"

namespace lockstep {

class Device;

struct CastArgs {
  int64_t n = 0;
  const void* src = nullptr;
  DType src_dtype{};    // at least one of the two is F32
  void* dst = nullptr;  // overlaps src only if it is src and both are F32
  DType dst_dtype{};
};
void Cast(Device& device, const CastArgs& args);

KernelInfo CastInfo();
// The operation on fixed inputs (self_check.h).
std::string CastCheck(Device& device, CheckFault fault);

}  // namespace lockstep

#endif  // MODEL_KERNELS_CAST_CAST_H_
