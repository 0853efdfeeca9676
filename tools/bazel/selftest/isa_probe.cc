#include "tools/bazel/selftest/isa_probe.h"

#include <cstddef>

namespace lockstep::selftest::LOCKSTEP_ISA_NS {

float SumOfProducts(const std::vector<float>& a, const std::vector<float>& b) {
  // push_back is here for its inline code, and the sum for its roundings.
  std::vector<float> sums;
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += a[i] * b[i];
    sums.push_back(sum);
  }
  return sums.back();
}

}  // namespace lockstep::selftest::LOCKSTEP_ISA_NS
