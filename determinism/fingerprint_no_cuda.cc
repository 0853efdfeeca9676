#include "determinism/fingerprint_cuda.h"
#include "determinism/status.h"

namespace lockstep {

bool CudaAvailable() { return false; }

absl::StatusOr<Fingerprint> FingerprintOnDevice(std::span<const std::byte>,
                                                uint64_t) {
  return InputError("this build has no CUDA kernels",
                    "fingerprint on a CUDA device",
                    "build with --config=cuda, or use the CPU");
}

}  // namespace lockstep
