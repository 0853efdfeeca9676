#include "determinism/cuda_memory.h"
#include "determinism/fingerprint_cuda.h"
#include "determinism/fingerprint_kernel.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr int kThreads = 256;
constexpr int kMaxBlocks = 1024;

// Adds to lanes[2] the words at index first_word + i. Integer additions, so the
// order in which threads come does not matter.
__global__ void AddWordsKernel(const uint32_t* words, uint64_t count,
                               uint64_t first_word, unsigned long long* lanes) {
  unsigned long long sum[2] = {0, 0};
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    const uint64_t index = first_word + i;
    const uint32_t high =
        fingerprint_internal::Fmix32(static_cast<uint32_t>(index >> 32));
    for (int lane = 0; lane < 2; ++lane) {
      sum[lane] +=
          uint64_t{words[i]} *
          fingerprint_internal::KeyOf(static_cast<uint32_t>(index), high, lane);
    }
  }
  for (int lane = 0; lane < 2; ++lane) {
    for (int offset = 16; offset > 0; offset /= 2) {
      sum[lane] += __shfl_down_sync(0xffffffffu, sum[lane], offset);
    }
    if (threadIdx.x % 32 == 0) atomicAdd(&lanes[lane], sum[lane]);
  }
}

}  // namespace

bool CudaAvailable() { return HaveCudaDevice(); }

absl::StatusOr<Fingerprint> FingerprintOnDevice(
    std::span<const std::byte> bytes, uint64_t byte_offset) {
  if (!CudaAvailable()) {
    return InputError("this machine has no usable CUDA device",
                      "fingerprint on a CUDA device", "use the CPU");
  }
  Fingerprint result;
  if (bytes.empty()) return result;
  // The bytes are laid where they stand in their words, among zeros.
  const size_t begin = byte_offset % 4;
  const uint64_t count = (begin + bytes.size() + 3) / 4;
  DeviceBuffer words;
  DeviceBuffer lanes;
  LS_RETURN_IF_ERROR(words.Allocate(4 * count));
  LS_RETURN_IF_ERROR(lanes.Allocate(sizeof(result.lane)));
  LS_RETURN_IF_ERROR(words.CopyFrom(bytes.data(), bytes.size(), begin));
  const uint64_t wanted = (count + kThreads - 1) / kThreads;
  const auto blocks =
      static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  AddWordsKernel<<<blocks, kThreads>>>(words.As<const uint32_t>(), count,
                                       byte_offset / 4,
                                       lanes.As<unsigned long long>());
  LS_RETURN_IF_ERROR(CudaStatus(cudaGetLastError(), "launch"));
  LS_RETURN_IF_ERROR(lanes.CopyTo(result.lane, sizeof(result.lane)));
  return result;
}

}  // namespace lockstep
