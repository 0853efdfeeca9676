#include "model/gradient_reduction.h"

#include <cstddef>
#include <span>
#include <vector>

#include "determinism/status.h"

namespace lockstep {
namespace {

// With sequence parallelism each tensor rank has other leaves of a norm.
bool IsSliced(const Parameter& p, const ModelLayout& layout) {
  return layout.sequence_parallel && layout.shape.tensor > 1 &&
         p.spec.token_sliced;
}

std::vector<int64_t> Places(const ParameterStore& store,
                            const ModelLayout& layout, bool sliced) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < store.all().size(); ++i) {
    if (IsSliced(store.all()[i], layout) == sliced) {
      places.push_back(static_cast<int64_t>(i));
    }
  }
  return places;
}

}  // namespace

GradientReduction::GradientReduction(ParameterStore& store,
                                     const ModelLayout& layout,
                                     const BucketOptions& options)
    : store_(store), layout_(layout), options_(options) {
  if (layout.shape.data == 1) return;
  buckets_.emplace(store, *layout.data, Places(store, layout, false), options);
  sliced_.emplace(store, *layout.data, Places(store, layout, true), options);
}

absl::Status GradientReduction::BeginPass(bool early) {
  early_ = early;
  if (!buckets_) return absl::OkStatus();
  LS_RETURN_IF_ERROR(buckets_->Wait());
  buckets_->Begin();
  sliced_->Begin();
  return absl::OkStatus();
}

void GradientReduction::LayerDone(int64_t layer) {
  if (buckets_ && early_) buckets_->LayerDone(layer);
}

// A replica without samples has sent nothing so far.
void GradientReduction::EndPass() {
  if (buckets_ && early_) buckets_->SendRest();
}

absl::Status GradientReduction::Reduce() {
  LS_RETURN_IF_ERROR(ReduceTokenSlices());
  if (!buckets_) return absl::OkStatus();
  buckets_->SendRest();
  sliced_->SendRest();
  LS_RETURN_IF_ERROR(buckets_->Wait());
  return sliced_->Wait();
}

absl::Status GradientReduction::ReduceTokenSlices() {
  for (Parameter& p : store_.all()) {
    if (!IsSliced(p, layout_)) continue;
    const auto count = static_cast<size_t>(p.count());
    if (p.gradient.mode == GradientMode::kGrid) {
      LS_RETURN_IF_ERROR(
          layout_.tensor->AllReduceSum(std::span(p.gradient.grid, count)));
      continue;
    }
    const std::span<float> sum(p.gradient.sum, count);
    LS_RETURN_IF_ERROR(options_.fast_sums
                           ? layout_.tensor->AllReduceFastSum(sum)
                           : layout_.tensor->AllReduceOrderedSum(sum));
  }
  return absl::OkStatus();
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
