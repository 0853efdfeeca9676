// Device memory that frees itself, and the runtime's errors as statuses.
//
// For the few .cu files of this folder, which copy a test's data to a device
// and back. Not an allocator for training: tensors on a device belong to
// model/device.h. Include in .cu files only.

#ifndef DETERMINISM_CUDA_MEMORY_H_
#define DETERMINISM_CUDA_MEMORY_H_

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "determinism/status.h"

namespace lockstep {

inline absl::Status CudaStatus(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::InternalError(std::string(call) + ": " +
                             cudaGetErrorString(error) +
                             "\n  where: a CUDA device"
                             "\n  do: check the device with nvidia-smi");
}

inline bool HaveCudaDevice() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  // Once; the memory is zero.
  absl::Status Allocate(size_t size_bytes) {
    LS_RETURN_IF_ERROR(CudaStatus(cudaMalloc(&data_, size_bytes), "allocate"));
    return CudaStatus(cudaMemset(data_, 0, size_bytes), "clear");
  }

  absl::Status CopyFrom(const void* host, size_t size_bytes,
                        size_t offset_bytes = 0) {
    return CudaStatus(cudaMemcpy(static_cast<char*>(data_) + offset_bytes, host,
                                 size_bytes, cudaMemcpyHostToDevice),
                      "copy to the device");
  }

  absl::Status CopyTo(void* host, size_t size_bytes) const {
    return CudaStatus(
        cudaMemcpy(host, data_, size_bytes, cudaMemcpyDeviceToHost),
        "copy from the device");
  }

  template <class T>
  T* As() {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

}  // namespace lockstep

#endif  // DETERMINISM_CUDA_MEMORY_H_
