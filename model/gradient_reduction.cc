#include "model/gradient_reduction.h"

#include <cstddef>
#include <span>
#include <vector>

#include "determinism/status.h"

namespace lockstep {
namespace {

std::span<int64_t> GridOf(const Parameter& p) {
  return {p.gradient.grid, static_cast<size_t>(p.count())};
}
std::span<float> SumOf(const Parameter& p) {
  return {p.gradient.sum, static_cast<size_t>(p.count())};
}

}  // namespace

GradientReduction::GradientReduction(ParameterStore& store,
                                     const ModelLayout& layout, bool fast_sums)
    : store_(store), layout_(layout), fast_sums_(fast_sums) {}

absl::Status GradientReduction::Reduce() {
  int64_t number = 0;
  for (Parameter& p : store_.all()) {
    LS_RETURN_IF_ERROR(ReduceTokenSlices(p));
    LS_RETURN_IF_ERROR(ReduceReplicas(p, number++));
  }
  return absl::OkStatus();
}

// With sequence parallelism each tensor rank has other leaves of a norm.
absl::Status GradientReduction::ReduceTokenSlices(Parameter& p) {
  const bool cut = layout_.sequence_parallel && layout_.shape.tensor > 1;
  if (!cut || !p.spec.token_sliced) return absl::OkStatus();
  if (p.gradient.mode == GradientMode::kGrid) {
    return layout_.tensor->AllReduceSum(GridOf(p));
  }
  return fast_sums_ ? layout_.tensor->AllReduceFastSum(SumOf(p))
                    : layout_.tensor->AllReduceOrderedSum(SumOf(p));
}

absl::Status GradientReduction::ReduceReplicas(Parameter& p, int64_t number) {
  if (layout_.shape.data == 1) return absl::OkStatus();
  const std::vector<int64_t> counts = store_.sharding().CountsOf(number);
  if (p.gradient.mode == GradientMode::kGrid) {
    return layout_.data->ReduceScatterSum(GridOf(p), counts);
  }
  return fast_sums_ ? layout_.data->AllReduceFastSum(SumOf(p))
                    : layout_.data->ReduceScatterOrderedSum(SumOf(p), counts);
}

absl::Status GradientReduction::GatherWeights() {
  if (layout_.shape.data == 1) return absl::OkStatus();
  int64_t number = 0;
  for (Parameter& p : store_.all()) {
    const auto width = static_cast<int64_t>(SizeOf(p.spec.runtime_dtype));
    std::vector<int64_t> bytes = store_.sharding().CountsOf(number++);
    for (int64_t& part : bytes) part *= width;
    LS_RETURN_IF_ERROR(
        layout_.data->AllGatherV({static_cast<std::byte*>(p.runtime),
                                  static_cast<size_t>(p.count() * width)},
                                 bytes));
  }
  return absl::OkStatus();
}

}  // namespace lockstep
