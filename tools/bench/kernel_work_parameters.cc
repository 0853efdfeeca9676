// Operations on parameters and their gradients: some 12.6 million, fp32.
#include <functional>
#include <memory>

#include "model/kernels/adamw/adamw.h"
#include "model/kernels/grad_finalize/grad_finalize.h"
#include "model/kernels/grid_accumulate/grid_accumulate.h"
#include "model/kernels/slice_tree/slice_tree.h"
#include "tools/bench/kernel_work.h"

namespace lockstep {
namespace {

constexpr int64_t kCount = int64_t{16384} * 768;  // beyond any cache
constexpr int64_t kSlices = 4;

std::function<void()> Adam(Device& device, WorkMemory& m) {
  AdamWArgs a = {.n = kCount,
                 .runtime_dtype = DType::kBF16,
                 .lr = 1e-4,
                 .beta1 = 0.9,
                 .beta2 = 0.95,
                 .eps = 1e-8,
                 .weight_decay = 0.1};
  a.bias_correction1 = 1 - a.beta1;
  a.bias_correction2 = 1 - a.beta2;
  a.grad = m.Floats(kCount, -1, 1);
  a.master = m.Floats(kCount, -1, 1);
  a.m = m.Floats(kCount, -0.1f, 0.1f);
  a.v = m.Floats(kCount, 0.1f, 0.2f);
  a.runtime = m.Storage(kCount);
  return [&device, a] { AdamW(device, a); };
}

std::function<void()> Finalize(Device& device, WorkMemory& m) {
  GradFinalizeArgs a = {.n = kCount, .divisor = 1.0};
  a.grad = m.Floats(kCount, -1, 1);
  return [&device, a] { GradFinalize(device, a); };
}

std::function<void()> FinalizeGrid(Device& device, WorkMemory& m) {
  GradFinalizeGridArgs a = {.n = kCount, .exponent = 40, .divisor = 3.0};
  a.sum = static_cast<const int64_t*>(m.Bytes(8 * kCount));
  a.grad = m.Floats(kCount, -1, 1);
  return [&device, a] { GradFinalizeGrid(device, a); };
}

// Sums only grow, by less than 2^40 a call.
std::function<void()> Accumulate(Device& device, WorkMemory& m) {
  const auto stats = std::make_shared<GridStats>();
  GridAccumulateArgs a = {.n = kCount, .exponent = 40};
  a.leaf = m.Floats(kCount, -1, 1);
  a.leaf_stride = kCount;
  a.sum = static_cast<int64_t*>(m.Bytes(8 * kCount));
  a.stats = stats.get();
  return [&device, a, stats] { GridAccumulate(device, a); };
}

std::function<void()> Tree(Device& device, WorkMemory& m) {
  CombineSliceTreeArgs a = {.rows = 2048,
                            .columns = 768,
                            .count = kSlices,
                            .out_dtype = DType::kBF16};
  const int64_t each = a.rows * a.columns;
  a.partials = m.Floats(kSlices * each, -1, 1);
  a.partial_stride = each;
  a.partial_row_stride = a.out_row_stride = a.columns;
  a.out = m.Storage(each);
  return [&device, a] { CombineSliceTree(device, a); };
}

}  // namespace

void AddParameterWork(std::vector<KernelWorkMaker>& all) {
  all.push_back(MemoryWork("adamw", "", Adam));
  all.push_back(MemoryWork("grad_finalize", "fp32", Finalize));
  all.push_back(MemoryWork("grad_finalize", "grid", FinalizeGrid));
  all.push_back(MemoryWork("grid_accumulate", "", Accumulate));
  all.push_back(MemoryWork("slice_tree", "", Tree));
}

}  // namespace lockstep
