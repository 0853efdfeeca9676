// Ranges of AdamW, once per instruction set level; formulas in adamw.h.

#include "model/kernels/adamw/adamw.h"
#include "model/kernels/storage.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

struct Scalars {
  float lr, beta1, beta2, rest1, rest2, eps, weight_decay, clip, c1, c2;
};

Scalars Rounded(const AdamWArgs& args) {
  const auto once = [](double value) { return static_cast<float>(value); };
  return {once(args.lr),
          once(args.beta1),
          once(args.beta2),
          once(1.0 - args.beta1),
          once(1.0 - args.beta2),
          once(args.eps),
          once(args.weight_decay),
          once(args.clip),
          once(args.bias_correction1),
          once(args.bias_correction2)};
}

void Update(const AdamWArgs& args, int64_t begin, int64_t end) {
  const Scalars s = Rounded(args);
  const float* __restrict grad = args.grad;
  float* __restrict master = args.master;
  float* __restrict m = args.m;
  float* __restrict v = args.v;
  for (int64_t i = begin; i < end; ++i) {
    const float g = grad[i] * s.clip;
    const float mi = s.beta1 * m[i] + s.rest1 * g;
    const float vi = s.beta2 * v[i] + s.rest2 * (g * g);
    const float p = master[i];
    const float up =
        (mi / s.c1) / (__builtin_sqrtf(vi / s.c2) + s.eps) + s.weight_decay * p;
    m[i] = mi;
    v[i] = vi;
    master[i] = p - s.lr * up;
  }
}

}  // namespace

void AdamWRange(const AdamWArgs& args, int64_t begin, int64_t end) {
  // In pieces, so that the conversion finds the masters in cache.
  constexpr int64_t kPiece = 2048;
  for (int64_t first = begin; first < end; first += kPiece) {
    const int64_t last = end - first < kPiece ? end : first + kPiece;
    Update(args, first, last);
    if (args.runtime == nullptr) continue;
    WithStorage(args.runtime_dtype, [&]<class S>(S) {
      S* __restrict runtime = static_cast<S*>(args.runtime);
      const float* __restrict master = args.master;
      for (int64_t i = first; i < last; ++i) {
        runtime[i] = FromF32<S>(master[i]);
      }
    });
  }
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
