// Fingerprints of clause N11 on a CUDA device, where the data lies there.
//
// The same sums as fingerprint.h, which add up with those made on the CPU. This
// first form takes bytes of the host: it shows on any machine with a device
// that the kernel gives the same bits. In a build without CUDA the functions
// exist and say so. Not for the CPU path, which never comes here.

#ifndef DETERMINISM_FINGERPRINT_CUDA_H_
#define DETERMINISM_FINGERPRINT_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "determinism/fingerprint.h"

namespace lockstep {

// Whether this build has the kernels and this machine a device.
bool CudaAvailable();

// FingerprintBytes(bytes.data(), bytes.size(), byte_offset), computed on the
// device after a copy. InputError without CUDA or a device; Internal where the
// runtime fails, with its message.
absl::StatusOr<Fingerprint> FingerprintOnDevice(
    std::span<const std::byte> bytes, uint64_t byte_offset = 0);

}  // namespace lockstep

#endif  // DETERMINISM_FINGERPRINT_CUDA_H_
