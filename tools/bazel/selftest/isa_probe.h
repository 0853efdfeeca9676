// A function compiled at every level, to prove lockstep_isa_library.
//
// Not a kernel: it calls an inline function of the standard library, the very
// thing that leaks AVX-512 code into generic code when symbols are weak.

#ifndef TOOLS_BAZEL_SELFTEST_ISA_PROBE_H_
#define TOOLS_BAZEL_SELFTEST_ISA_PROBE_H_

#include <vector>

namespace lockstep::selftest {

namespace scalar {
float SumOfProducts(const std::vector<float>& a, const std::vector<float>& b);
}
namespace avx2 {
float SumOfProducts(const std::vector<float>& a, const std::vector<float>& b);
}
namespace avx512 {
float SumOfProducts(const std::vector<float>& a, const std::vector<float>& b);
}
namespace amx {
float SumOfProducts(const std::vector<float>& a, const std::vector<float>& b);
}

}  // namespace lockstep::selftest

#endif  // TOOLS_BAZEL_SELFTEST_ISA_PROBE_H_
