#include "model/kernels/ssd_scan/ssd_scan.h"

#include <cstdint>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/ssd_scan/ssd_scan_kernel.h"
#include "model/kernels/storage.h"

namespace lockstep {
namespace {

constexpr char kName[] = "ssd_scan";
constexpr char kOrder[] = "chunks ascending; products amx32 or fp32 chain";

void CheckShape(const SsdShape& shape, const SsdInputs& in) {
  LS_CHECK(shape.batch >= 0 && shape.tokens >= 0);
  LS_CHECK(shape.heads > 0 && shape.head_dim > 0);
  LS_CHECK(shape.groups > 0 && shape.state > 0 && shape.chunk > 0);
  LS_CHECK_EQ(shape.heads % shape.groups, 0);
  LS_CHECK(IsStorage(in.dtype)) << "storage is " << NameOf(in.dtype);
}

// Multiply-adds of products: `causal` for each pair (i, j <= i) of a chunk, and
// 2 head_dim * state a token and head for the two products with the state.
int64_t ForwardFlops(const SsdShape& s) {
  int64_t pairs = 0;
  for (int64_t first = 0; first < s.tokens; first += s.chunk) {
    const int64_t q = s.tokens - first < s.chunk ? s.tokens - first : s.chunk;
    pairs += q * (q + 1) / 2;
  }
  const int64_t within = pairs * (s.groups * s.state + s.heads * s.head_dim);
  const int64_t carried = 2 * s.tokens * s.heads * s.head_dim * s.state;
  return 2 * s.batch * (within + carried);
}

}  // namespace

void SsdForward(Device& device, const SsdShape& shape, const SsdInputs& in,
                const SsdSaved& saved, void* y, int64_t y_row_stride) {
  CheckShape(shape, in);
  const auto variants = LS_KERNEL_VARIANTS(SsdForwardRange, kName, kOrder);
  const SsdForwardArgs args{shape, in, saved, y, y_row_stride};
  if (shape.tokens == 0) return;
  device.CountFlops(ForwardFlops(shape));
  RunKernel(device, variants, args, shape.batch * shape.groups, 1);
}

void SsdBackward(Device& device, const SsdShape& shape, const SsdInputs& in,
                 const SsdSaved& saved, const void* dy, int64_t dy_row_stride,
                 const SsdGradients& out) {
  CheckShape(shape, in);
  LS_CHECK(out.samples_per_leaf > 0);
  LS_CHECK_EQ(shape.batch % out.samples_per_leaf, 0);
  const int64_t terms = shape.batch * shape.tokens * shape.heads;
  const size_t bytes = static_cast<size_t>(3 * terms) * sizeof(float);
  float* memory = static_cast<float*>(device.Allocate(bytes));
  const SsdBackwardArgs args{shape,
                             in,
                             saved,
                             dy,
                             dy_row_stride,
                             out,
                             {memory, memory + terms, memory + 2 * terms}};
  const auto groups = LS_KERNEL_VARIANTS(SsdBackwardRange, kName, kOrder);
  const auto leaves = LS_KERNEL_VARIANTS(SsdLeafRange, kName, kOrder);
  if (shape.tokens > 0) {
    device.CountFlops(2 * ForwardFlops(shape));
    RunKernel(device, groups, args, shape.batch * shape.groups, 1);
  }
  RunKernel(device, leaves, args, shape.batch / out.samples_per_leaf, 1);
  device.Free(memory, bytes);
}

KernelInfo SsdScanInfo() {
  const auto variants = LS_KERNEL_VARIANTS(SsdForwardRange, kName, kOrder);
  return {kName,
          kOrder,
          "N3, N4, N7, N13, N14",
          variants.Levels(),
          "amx: takes the avx512 form",
          &SsdScanCheck};
}

}  // namespace lockstep
