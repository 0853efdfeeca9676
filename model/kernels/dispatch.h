// How an operation's public entry runs its kernel: the variant of the device's
// level, on ranges of independent items.
//
// The grain keeps a thread from being woken for less than it costs; it decides
// no bit, since an item is a whole output (N1).

#ifndef MODEL_KERNELS_DISPATCH_H_
#define MODEL_KERNELS_DISPATCH_H_

#include <algorithm>
#include <cstdint>

#include "model/device.h"
#include "model/kernels/registry.h"

namespace lockstep {

// Items a range should have at least, an item being `elements` long.
inline int64_t GrainFor(int64_t elements) {
  constexpr int64_t kElementsPerRange = 8192;
  return std::max<int64_t>(1,
                           kElementsPerRange / std::max<int64_t>(1, elements));
}

// The variant of the device's level, which the device notes for who traces.
template <class Fn>
Fn KernelFor(Device& device, const KernelVariants<Fn>& variants,
             int64_t items) {
  int level = static_cast<int>(device.isa());
  while (level > 0 && variants.by_isa[level] == nullptr) --level;
  device.NoteKernel({.kernel = variants.operation,
                     .variant = NameOf(static_cast<Isa>(level)),
                     .order = variants.order,
                     .calls = 1,
                     .items = items});
  return variants.by_isa[level];
}

template <class Fn, class Args>
void RunKernel(Device& device, const KernelVariants<Fn>& variants,
               const Args& args, int64_t items, int64_t grain) {
  const Fn kernel = KernelFor(device, variants, items);
  device.threads().ParallelFor(
      items, [&](int64_t begin, int64_t end) { kernel(args, begin, end); },
      grain);
}

}  // namespace lockstep

#endif  // MODEL_KERNELS_DISPATCH_H_
