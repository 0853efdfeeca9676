// A function compiled at every level, to prove lockstep_isa_library.
//
// Not a kernel: it calls an inline function of a shared header, the very thing
// that leaks AVX-512 code into generic code when symbols are weak.

#ifndef TOOLS_BAZEL_SELFTEST_ISA_PROBE_H_
#define TOOLS_BAZEL_SELFTEST_ISA_PROBE_H_

#include <vector>

namespace lockstep::selftest {

// The shared inline function. Out of line by force, as GCC would decide for a
// longer one: without -fno-weak it is a weak symbol, and the guard's canary.
[[gnu::noinline]] inline float Greater(float a, float b) {
  return a < b ? b : a;
}

namespace scalar {
float GreatestPartialSum(const std::vector<float>& a,
                         const std::vector<float>& b);
}
namespace avx2 {
float GreatestPartialSum(const std::vector<float>& a,
                         const std::vector<float>& b);
}
namespace avx512 {
float GreatestPartialSum(const std::vector<float>& a,
                         const std::vector<float>& b);
}
namespace amx {
float GreatestPartialSum(const std::vector<float>& a,
                         const std::vector<float>& b);
}

}  // namespace lockstep::selftest

#endif  // TOOLS_BAZEL_SELFTEST_ISA_PROBE_H_
