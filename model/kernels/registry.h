// The list of kernels: which operation, in which written order, at which
// instruction-set levels.
//
// One list feeds dispatch, the equality tests and the table in the
// documentation. It is explicit and immutable: an operation hands out its
// KernelInfo, and all_kernels.cc has one line for it. No static registrars, as
// the linker may drop them.
//
// A variant is a faster way to the same bits (N1): every one must match the
// scalar level byte for byte, so falling back to a lower level is never wrong.
//
// How an operation uses it (foo.cc; foo_kernel.cc is compiled once a level by
// lockstep_isa_library and defines FooRange in namespace LOCKSTEP_ISA_NS):
//
//   LS_DECLARE_KERNEL(FooRange, const FooArgs&, int64_t begin, int64_t end)
//   const auto variants = LS_KERNEL_VARIANTS(FooRange, "foo", "one chain");
//   variants.For(device.isa())(args, 0, n);

#ifndef MODEL_KERNELS_REGISTRY_H_
#define MODEL_KERNELS_REGISTRY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "determinism/environment.h"

namespace lockstep {

// Fn is a function pointer; by_isa is indexed by Isa and null where a level has
// no variant of its own. The scalar level is always there.
template <class Fn>
struct KernelVariants {
  const char* operation;
  const char* order;
  std::array<Fn, kIsaCount> by_isa;

  // The variant of `isa`, or of the next lower level that has one.
  Fn For(Isa isa) const {
    int level = static_cast<int>(isa);
    while (level > 0 && by_isa[level] == nullptr) --level;
    return by_isa[level];
  }

  std::vector<Isa> Levels() const {
    std::vector<Isa> levels;
    for (int level = 0; level < kIsaCount; ++level) {
      if (by_isa[level] != nullptr) levels.push_back(static_cast<Isa>(level));
    }
    return levels;
  }
};

class Device;

// What a self check does wrong on purpose, so that whoever compares digests can
// be shown to see it: the first element of its first input has the other sign,
// or the lowest bit of its last output is flipped.
enum class CheckFault : uint8_t { kNone, kInput, kOutput };

// Runs an operation on fixed inputs of odd shapes, in every storage type, and
// digests all that it wrote: the same 32 hex digits at every level and number
// of threads (N1). self_check.h is what it is made of.
using SelfCheckFunction = std::string (*)(Device& device, CheckFault fault);

struct KernelInfo {
  const char* operation;    // the folder's name
  const char* order;        // the order of its sums in a few words
  const char* clause;       // "N3, N13"
  std::vector<Isa> levels;  // ascending, scalar first
  const char* known_gaps;   // "" when none
  SelfCheckFunction self_check;
};

// One entry an operation, by name. Link //model/kernels:all_kernels.
std::vector<KernelInfo> AllKernels();

}  // namespace lockstep

// Declares one function at the levels that lockstep_isa_library compiles by
// default. Use it at namespace lockstep.
#define LS_DECLARE_KERNEL(name, ...) \
  namespace scalar {                 \
  void name(__VA_ARGS__);            \
  }                                  \
  namespace avx2 {                   \
  void name(__VA_ARGS__);            \
  }                                  \
  namespace avx512 {                 \
  void name(__VA_ARGS__);            \
  }

#define LS_KERNEL_VARIANTS(name, operation, order)                  \
  ::lockstep::KernelVariants<decltype(&::lockstep::scalar::name)> { \
    operation, order, {                                             \
      &::lockstep::scalar::name, &::lockstep::avx2::name,           \
          &::lockstep::avx512::name, nullptr                        \
    }                                                               \
  }

#endif  // MODEL_KERNELS_REGISTRY_H_
