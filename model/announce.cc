#include "model/announce.h"

#include <utility>

#include "model/observe.h"
#include "model/parameter_boxes.h"
#include "model/split.h"

namespace lockstep {
namespace {

TensorRef OwnedRuntime(const ParameterStore& store, const Parameter& p) {
  TensorRef ref = OwnedRef("runtime", store, p, p.owned_runtime());
  ref.dtype = p.spec.runtime_dtype;
  return ref;
}

}  // namespace

TensorRef OwnedRef(std::string_view name, const ParameterStore& store,
                   const Parameter& p, void* data) {
  TensorRef ref = {
      .name = name, .dtype = DType::kF32, .shape = p.shape, .data = data};
  ref.shape[0] = p.owned.rows();
  if (ref.shape == p.spec.shape) return ref;
  HeldDim rows = {.length = p.spec.shape[0]};
  for (const ParameterBox& box : BoxesOf(p, store.placement().tensor)) {
    rows.ranges.push_back({box.start[0], box.start[0] + box.shape[0]});
  }
  if (rows.ranges.empty()) rows.ranges.push_back({0, 0});
  ref = Cut(std::move(ref), 0, rows);
  if (p.spec.split.dim != 1) return ref;
  return Cut(std::move(ref), 1, HeldOf(p.spec.split, store.placement().tensor));
}

void AnnounceState(const StepContext& context, ParameterStore& store,
                   const Optimizer& optimizer) {
  if (!context.hooks.active()) return;
  for (const Parameter& p : store.all()) {
    const Moments moments = optimizer.MomentsOf(p);
    for (const auto& [name, data] :
         {std::pair{"master", p.master}, {"m", moments.m}, {"v", moments.v}}) {
      Observe(context, {p.spec.name, name}, {},
              {OwnedRef(name, store, p, data)});
    }
  }
}

void AnnounceConversion(const StepContext& context, ParameterStore& store) {
  if (!context.hooks.active()) return;
  for (const Parameter& p : store.all()) {
    Observe(context.In(Phase::kConversion), {p.spec.name, "convert"},
            {OwnedRef("master", store, p, p.master)}, {OwnedRuntime(store, p)});
  }
}

void AnnounceSums(const StepContext& context, ParameterStore& store) {
  if (!context.hooks.active()) return;
  for (const Parameter& p : store.all()) {
    const bool grid = p.gradient.mode == GradientMode::kGrid;
    void* sum = grid ? static_cast<void*>(p.gradient.grid + p.owned_first())
                     : p.gradient.sum + p.owned_first();
    TensorRef ref = OwnedRef("sum", store, p, sum);
    if (grid) ref.dtype = DType::kI64;
    Observe(context.In(Phase::kCollective), {p.spec.name, "reduce_scatter"}, {},
            {std::move(ref)});
  }
}

void AnnounceWeights(const StepContext& context, ParameterStore& store) {
  if (!context.hooks.active()) return;
  const TensorShare& share = store.placement().tensor;
  for (const Parameter& p : store.all()) {
    TensorRef whole = {.name = "runtime",
                       .dtype = p.spec.runtime_dtype,
                       .shape = p.shape,
                       .data = p.runtime};
    if (p.shape != p.spec.shape && p.spec.split.dim >= 0) {
      whole = Cut(std::move(whole), static_cast<size_t>(p.spec.split.dim),
                  HeldOf(p.spec.split, share));
    }
    Observe(context.In(Phase::kCollective), {p.spec.name, "all_gather"},
            {OwnedRuntime(store, p)}, {std::move(whole)});
  }
}

}  // namespace lockstep
