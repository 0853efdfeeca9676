#include "model/kernels/matmul/matmul.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "determinism/check.h"
#include "determinism/dtype.h"
#include "model/device.h"
#include "model/kernels/dispatch.h"
#include "model/kernels/grid.h"
#include "model/kernels/matmul/matmul_kernel.h"
#include "model/kernels/registry.h"

namespace lockstep {
namespace {

// A thread is worth waking for about this much: some ten microseconds.
constexpr int64_t kGrainFlops = int64_t{1} << 20;

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
  LS_CHECK(IsOperand(args.c_dtype) || args.c_dtype == DType::kI64)
      << "c is " << NameOf(args.c_dtype);
  LS_CHECK(!args.accumulate || args.c_dtype == DType::kF32)
      << "only an F32 c is added to, not " << NameOf(args.c_dtype);
  LS_CHECK(args.m <= 1 || args.c_row_stride >= args.n)
      << "rows of c overlap: " << args.c_row_stride << " < " << args.n;
}

void CheckSlices(const MatmulArgs& args) {
  const int64_t count = args.slice_count;
  LS_CHECK(args.slice_use == SliceUse::kLeaves || (count & (count - 1)) == 0)
      << "a tree of " << count << " slices";
  LS_CHECK(args.slice_use == SliceUse::kTree || args.accumulate ||
           args.c_dtype == DType::kI64)
      << "leaves need a sum to be added to";
  for (int64_t s = 0; s < count; ++s) {
    for (int64_t i = 0; i < args.slices[s].count; ++i) {
      const KSegment& segment = args.slices[s].segments[i];
      LS_CHECK(0 <= segment.begin && segment.begin <= segment.end &&
               segment.end <= args.k)
          << "slice " << s << ": [" << segment.begin << ", " << segment.end
          << ") of " << args.k;
    }
  }
}

void CheckGrid(const MatmulArgs& args) {
  LS_CHECK(args.grid_stats != nullptr);
  LS_CHECK(std::abs(args.grid_exponent) <= kMostGridExponent)
      << args.grid_exponent;
  LS_CHECK(args.slice_count <= 1 || args.slice_use == SliceUse::kLeaves)
      << "the slices of an I64 c are leaves";
}

// Positions that are multiplied, padding not counted.
int64_t DepthOf(const MatmulArgs& args) {
  if (args.slice_count == 0) return args.k;
  int64_t depth = 0;
  for (int64_t s = 0; s < args.slice_count; ++s) {
    for (int64_t i = 0; i < args.slices[s].count; ++i) {
      depth +=
          args.slices[s].segments[i].end - args.slices[s].segments[i].begin;
    }
  }
  return depth;
}

// Each range has statistics of its own; they have no order to be kept.
void MultiplyOnGrid(Device& device, const MatmulArgs& args, int64_t items,
                    int64_t grain) {
  const auto multiply = KernelFor(device, MatmulVariants(), items);
  std::mutex mutex;
  device.threads().ParallelFor(
      items,
      [&](int64_t begin, int64_t end) {
        GridStats stats;
        MatmulArgs part = args;
        part.grid_stats = &stats;
        multiply(part, begin, end);
        const std::lock_guard<std::mutex> lock(mutex);
        args.grid_stats->Merge(stats);
      },
      grain);
}

}  // namespace

void Matmul(Device& device, const MatmulArgs& args) {
  Check(args);
  CheckSlices(args);
  if (args.c_dtype == DType::kI64) CheckGrid(args);
  const int64_t outputs = args.batch * args.m * args.n;
  if (outputs == 0) return;
  const int64_t flops = 2 * outputs * DepthOf(args);
  device.CountFlops(flops);
  const int64_t items = args.batch * StripsOf(args.m, args.n).per_batch;
  const int64_t grain = std::max<int64_t>(1, kGrainFlops / (flops / items + 1));
  if (args.c_dtype == DType::kI64) {
    MultiplyOnGrid(device, args, items, grain);
    return;
  }
  const auto multiply = KernelFor(device, MatmulVariants(), items);
  device.threads().ParallelFor(
      items, [&](int64_t begin, int64_t end) { multiply(args, begin, end); },
      grain);
}

KernelInfo MatmulInfo() {
  const auto variants = MatmulVariants();
  return {.operation = "matmul",
          .order = variants.order,
          .clause = "N3, N4, N5",
          .levels = variants.Levels(),
          .known_gaps = "amx: BF16 only, others as avx512",
          .self_check = &MatmulCheck};
}

}  // namespace lockstep
