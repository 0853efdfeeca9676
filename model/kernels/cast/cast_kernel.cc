// Ranges of the conversions, once per instruction set level; see cast.h.

#include <cstring>

#include "model/kernels/cast/cast.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

template <class S>
void Narrow(const float* __restrict src, int64_t n, S* __restrict dst) {
  for (int64_t i = 0; i < n; ++i) dst[i] = FromF32<S>(src[i]);
}

template <class S>
void Widen(const S* __restrict src, int64_t n, float* __restrict dst) {
  for (int64_t i = 0; i < n; ++i) dst[i] = ToF32(src[i]);
}

}  // namespace

void CastRange(const CastArgs& args, int64_t begin, int64_t end) {
  const int64_t n = end - begin;
  if (args.src_dtype == args.dst_dtype) {  // both F32
    std::memmove(static_cast<float*>(args.dst) + begin,
                 static_cast<const float*>(args.src) + begin,
                 static_cast<size_t>(n) * sizeof(float));
  } else if (args.src_dtype == DType::kF32) {
    WithStorage(args.dst_dtype, [&]<class S>(S) {
      Narrow<S>(static_cast<const float*>(args.src) + begin, n,
                static_cast<S*>(args.dst) + begin);
    });
  } else {
    WithStorage(args.src_dtype, [&]<class S>(S) {
      Widen<S>(static_cast<const S*>(args.src) + begin, n,
               static_cast<float*>(args.dst) + begin);
    });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
