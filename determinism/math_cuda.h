// math.h compiled for a CUDA device, over arrays, to compare its bits (N8).
//
// For tests. Not how kernels use the functions: they call math.h themselves.

#ifndef DETERMINISM_MATH_CUDA_H_
#define DETERMINISM_MATH_CUDA_H_

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

// y[i] = f(x[i]) on the device; `function` is "exp", "log", "log1p", "sigmoid",
// "softplus", "tanh", "rsqrt", "sin", "cos", "through_bf16" or "through_f16"
// (to the format and back). InputError for another name, without CUDA or
// without a device; Internal where the runtime fails.
absl::StatusOr<std::vector<float>> ApplyOnDevice(std::string_view function,
                                                 std::span<const float> x);

}  // namespace lockstep

#endif  // DETERMINISM_MATH_CUDA_H_
