#include "model/kernels/attention/attention.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/attention/attention_kernel.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/registry.h"
#include "model/kernels/storage.h"

namespace lockstep {
namespace {

constexpr char kName[] = "attention";
constexpr char kOrder[] = "key blocks ascending; products amx32 or fp32 chain";

void CheckShape(const AttentionShape& shape, const AttentionInputs& in) {
  LS_CHECK(shape.batch >= 0 && shape.tokens >= 0 && shape.head_dim > 0);
  LS_CHECK(shape.tokens <= std::numeric_limits<int32_t>::max());
  LS_CHECK(shape.heads > 0 && shape.kv_heads > 0);
  LS_CHECK_EQ(shape.heads % shape.kv_heads, 0);
  LS_CHECK(shape.key_block > 0);
  LS_CHECK_EQ(shape.key_block % 32, 0);
  LS_CHECK(IsStorage(in.dtype)) << "storage is " << NameOf(in.dtype);
}

// Of the two products of forward, over pairs of query and key on or below the
// diagonal.
int64_t ForwardFlops(const AttentionShape& s) {
  return 2 * s.batch * s.heads * s.tokens * (s.tokens + 1) * s.head_dim;
}

}  // namespace

void AttentionForward(Device& device, const AttentionShape& shape,
                      const AttentionInputs& in, void* o, int64_t o_row_stride,
                      float* lse) {
  CheckShape(shape, in);
  if (shape.tokens == 0) return;
  const auto variants =
      LS_KERNEL_VARIANTS(AttentionForwardRange, kName, kOrder);
  const AttentionForwardArgs args{shape, in, o, o_row_stride, lse};
  device.CountFlops(ForwardFlops(shape));
  RunKernel(device, variants, args, shape.batch * shape.kv_heads, 1);
}

void AttentionBackward(Device& device, const AttentionShape& shape,
                       const AttentionInputs& in, const void* o,
                       int64_t o_row_stride, const float* lse, const void* d_o,
                       int64_t d_o_row_stride, const AttentionGradients& out) {
  CheckShape(shape, in);
  if (shape.tokens == 0) return;
  const auto variants =
      LS_KERNEL_VARIANTS(AttentionBackwardRange, kName, kOrder);
  LS_CHECK(out.slices >= 0);
  LS_CHECK_EQ(shape.heads / shape.kv_heads % std::max<int64_t>(out.slices, 1),
              0)
      << out.slices << " slices";
  const AttentionBackwardArgs args{
      shape, in, o, o_row_stride, lse, d_o, d_o_row_stride, out};
  device.CountFlops(2 * ForwardFlops(shape));
  RunKernel(device, variants, args, shape.batch * shape.kv_heads, 1);
}

KernelInfo AttentionInfo() {
  const auto variants =
      LS_KERNEL_VARIANTS(AttentionForwardRange, kName, kOrder);
  return {kName,
          kOrder,
          "N3, N4, N7, N13, N14",
          variants.Levels(),
          "amx: takes the avx512 form",
          &AttentionCheck};
}

}  // namespace lockstep
