// Ranges of the gradient's last division and of its scan for faults, once per
// instruction set level; see grad_finalize.h.

#include <algorithm>
#include <bit>

#include "model/kernels/grad_finalize/grad_finalize.h"
#include "model/kernels/grad_finalize/non_finite_scan.h"

namespace lockstep::LOCKSTEP_ISA_NS {
namespace {

inline __attribute__((always_inline)) uint32_t IsNonFinite(float value) {
  return (std::bit_cast<uint32_t>(value) & 0x7f800000u) == 0x7f800000u;
}

int64_t FirstInChunk(const float* values, int64_t first, int64_t last) {
  uint32_t found = 0;
  for (int64_t i = first; i < last; ++i) found |= IsNonFinite(values[i]);
  if (found == 0) return -1;
  int64_t i = first;
  while (IsNonFinite(values[i]) == 0) ++i;
  return i;
}

}  // namespace

void GradFinalizeRange(const GradFinalizeArgs& args, int64_t begin,
                       int64_t end) {
  float* grad = args.grad;
  const double divisor = args.divisor;
  for (int64_t i = begin; i < end; ++i) {
    grad[i] = static_cast<float>(static_cast<double>(grad[i]) / divisor);
  }
}

void GradFinalizeGridRange(const GradFinalizeGridArgs& args, int64_t begin,
                           int64_t end) {
  const int64_t* sum = args.sum;
  float* grad = args.grad;
  const double unit =
      std::bit_cast<double>(static_cast<uint64_t>(1023 - args.exponent) << 52);
  const double divisor = args.divisor;
  for (int64_t i = begin; i < end; ++i) {
    grad[i] = static_cast<float>(static_cast<double>(sum[i]) * unit / divisor);
  }
}

// Items are chunks.
void NonFiniteScanRange(const NonFiniteScan& scan, int64_t begin, int64_t end) {
  for (int64_t chunk = begin; chunk < end; ++chunk) {
    const int64_t first = chunk * kNonFiniteChunk;
    scan.first_by_chunk[chunk] = FirstInChunk(
        scan.values, first, std::min(first + kNonFiniteChunk, scan.n));
  }
}

}  // namespace lockstep::LOCKSTEP_ISA_NS
