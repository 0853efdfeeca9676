// One multiply-add on the device, to prove lockstep_cuda_library.
//
// Without a device, or in a build without CUDA, a status says so: call sites
// never test for CUDA by the preprocessor.

#ifndef TOOLS_BAZEL_SELFTEST_CUDA_PROBE_H_
#define TOOLS_BAZEL_SELFTEST_CUDA_PROBE_H_

#include "absl/status/statusor.h"

namespace lockstep::selftest {

// a * b + c in two roundings.
absl::StatusOr<float> MultiplyAddOnDevice(float a, float b, float c);

}  // namespace lockstep::selftest

#endif  // TOOLS_BAZEL_SELFTEST_CUDA_PROBE_H_
