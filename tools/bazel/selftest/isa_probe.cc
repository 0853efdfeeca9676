#include "tools/bazel/selftest/isa_probe.h"

#include <cstddef>

namespace lockstep::selftest::LOCKSTEP_ISA_NS {

float GreatestPartialSum(const std::vector<float>& a,
                         const std::vector<float>& b) {
  float greatest = 0;
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
    greatest = Greater(greatest, sum);
  }
  return greatest;
}

}  // namespace lockstep::selftest::LOCKSTEP_ISA_NS
