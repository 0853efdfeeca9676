#include "model/kernels/matmul/matmul.h"

#include <algorithm>
#include <cstdint>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/matmul/matmul_kernel.h"
#include "model/kernels/registry.h"

namespace lockstep {
namespace {

// A thread is worth waking for about this much: some ten microseconds.
constexpr int64_t kGrainFlops = int64_t{1} << 20;

constexpr const char* kOrder =
    "F32: one FMA chain over ascending k; BF16, F16: amx32";

auto Variants() { return LS_KERNEL_VARIANTS(MatmulRange, "matmul", kOrder); }

bool IsOperand(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

void Check(const MatmulArgs& args) {
  LS_CHECK(args.m >= 0 && args.n >= 0 && args.k >= 0 && args.batch >= 0)
      << args.batch << " x [" << args.m << ", " << args.k << "] . [" << args.k
      << ", " << args.n << "]";
  LS_CHECK(IsOperand(args.a.dtype)) << "a is " << NameOf(args.a.dtype);
  LS_CHECK(args.a.dtype == args.b.dtype)
      << NameOf(args.a.dtype) << " times " << NameOf(args.b.dtype);
  LS_CHECK(IsOperand(args.c_dtype)) << "c is " << NameOf(args.c_dtype);
  LS_CHECK(!args.accumulate || args.c_dtype == DType::kF32)
      << "only an F32 c is added to, not " << NameOf(args.c_dtype);
  LS_CHECK(args.m <= 1 || args.c_row_stride >= args.n)
      << "rows of c overlap: " << args.c_row_stride << " < " << args.n;
}

}  // namespace

void Matmul(Device& device, const MatmulArgs& args) {
  Check(args);
  const int64_t outputs = args.batch * args.m * args.n;
  if (outputs == 0) return;
  device.CountFlops(2 * outputs * args.k);
  const MatmulStrips strips = StripsOf(args.m, args.n);
  const int64_t items = args.batch * strips.per_batch;
  const int64_t flops_per_item = 2 * outputs * args.k / items + 1;
  const auto multiply = Variants().For(device.isa());
  device.threads().ParallelFor(
      items, [&](int64_t begin, int64_t end) { multiply(args, begin, end); },
      std::max<int64_t>(1, kGrainFlops / flops_per_item));
}

KernelInfo MatmulInfo() {
  return {.operation = "matmul",
          .order = kOrder,
          .clause = "N3",
          .levels = Variants().Levels(),
          .known_gaps = "AMX tiles: amx machines run the avx512 variant"};
}

}  // namespace lockstep
