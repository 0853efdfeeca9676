#include <cuda_runtime.h>

#include "determinism/status.h"
#include "tools/bazel/selftest/cuda_probe.h"

namespace lockstep::selftest {
namespace {

__global__ void MultiplyAdd(float a, float b, float c, float* out) {
  *out = a * b + c;
}

absl::Status Check(cudaError_t error) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::UnavailableError(cudaGetErrorString(error));
}

}  // namespace

absl::StatusOr<float> MultiplyAddOnDevice(float a, float b, float c) {
  float* out = nullptr;
  LS_RETURN_IF_ERROR(Check(cudaMalloc(&out, sizeof(float))));
  MultiplyAdd<<<1, 1>>>(a, b, c, out);
  float result = 0;
  const absl::Status copied =
      Check(cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost));
  cudaFree(out);
  LS_RETURN_IF_ERROR(copied);
  return result;
}

}  // namespace lockstep::selftest
