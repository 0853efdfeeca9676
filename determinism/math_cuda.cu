#include <cstdint>
#include <string>

#include "determinism/cuda_memory.h"
#include "determinism/dtype.h"
#include "determinism/math.h"
#include "determinism/math_cuda.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

using Kernel = void (*)(const float* x, float* y, int64_t n);

// One kernel a function; `call` is an expression in `value`.
#define LS_ARRAY_KERNEL(name, call)                                   \
  __global__ void name(const float* x, float* y, int64_t n) {         \
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; \
    if (i >= n) return;                                               \
    const float value = x[i];                                         \
    y[i] = call;                                                      \
  }
LS_ARRAY_KERNEL(Exp, math::Exp(value))
LS_ARRAY_KERNEL(Log, math::Log(value))
LS_ARRAY_KERNEL(Log1p, math::Log1p(value))
LS_ARRAY_KERNEL(Sigmoid, math::Sigmoid(value))
LS_ARRAY_KERNEL(Softplus, math::Softplus(value))
LS_ARRAY_KERNEL(Tanh, math::Tanh(value))
LS_ARRAY_KERNEL(Rsqrt, math::Rsqrt(value))
LS_ARRAY_KERNEL(Sin, math::Sin(value))
LS_ARRAY_KERNEL(Cos, math::Cos(value))
LS_ARRAY_KERNEL(ThroughBF16, ToF32(ToBF16(value)))
LS_ARRAY_KERNEL(ThroughF16, ToF32(ToF16(value)))
#undef LS_ARRAY_KERNEL

struct Named {
  std::string_view name;
  Kernel kernel;
};

constexpr Named kKernels[] = {{"exp", Exp},
                              {"log", Log},
                              {"log1p", Log1p},
                              {"sigmoid", Sigmoid},
                              {"softplus", Softplus},
                              {"tanh", Tanh},
                              {"rsqrt", Rsqrt},
                              {"sin", Sin},
                              {"cos", Cos},
                              {"through_bf16", ThroughBF16},
                              {"through_f16", ThroughF16}};

Kernel Find(std::string_view name) {
  for (const Named& named : kKernels) {
    if (named.name == name) return named.kernel;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<float>> ApplyOnDevice(std::string_view function,
                                                 std::span<const float> x) {
  const Kernel kernel = Find(function);
  if (kernel == nullptr || !HaveCudaDevice()) {
    return InputError(kernel == nullptr
                          ? "no function '" + std::string(function) + "'"
                          : "this machine has no usable CUDA device",
                      "elementary functions on a CUDA device", "use the CPU");
  }
  std::vector<float> y(x.size());
  if (x.empty()) return y;
  DeviceBuffer in;
  DeviceBuffer out;
  LS_RETURN_IF_ERROR(in.Allocate(x.size_bytes()));
  LS_RETURN_IF_ERROR(out.Allocate(x.size_bytes()));
  LS_RETURN_IF_ERROR(in.CopyFrom(x.data(), x.size_bytes()));
  constexpr unsigned kThreads = 256;
  const auto blocks =
      static_cast<unsigned>((x.size() + kThreads - 1) / kThreads);
  kernel<<<blocks, kThreads>>>(in.As<float>(), out.As<float>(),
                               static_cast<int64_t>(x.size()));
  LS_RETURN_IF_ERROR(CudaStatus(cudaGetLastError(), "launch"));
  LS_RETURN_IF_ERROR(out.CopyTo(y.data(), x.size_bytes()));
  return y;
}

}  // namespace lockstep
