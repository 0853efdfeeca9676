#include "determinism/math_cuda.h"
#include "determinism/status.h"

namespace lockstep {

absl::StatusOr<std::vector<float>> ApplyOnDevice(std::string_view,
                                                 std::span<const float>) {
  return InputError("this build has no CUDA kernels",
                    "elementary functions on a CUDA device",
                    "build with --config=cuda, or use the CPU");
}

}  // namespace lockstep
