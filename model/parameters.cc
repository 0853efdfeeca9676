#include "model/parameters.h"

#include <algorithm>
#include <utility>

#include "determinism/check.h"
#include "model/initialise.h"
#include "model/kernels/cast/cast.h"

namespace lockstep {
namespace {

int64_t TotalMemory(const std::vector<ParameterSpec>& specs, bool low_only) {
  int64_t total = 0;
  for (const ParameterSpec& spec : specs) {
    if (!low_only || spec.runtime_dtype != DType::kF32) total += spec.memory();
  }
  return total;
}

DType LowDType(const std::vector<ParameterSpec>& specs) {
  for (const ParameterSpec& spec : specs) {
    if (spec.runtime_dtype != DType::kF32) return spec.runtime_dtype;
  }
  return DType::kBF16;  // of an arena that stays empty
}

}  // namespace

const float* Parameter::runtime_f32() const {
  LS_CHECK(spec.runtime_dtype == DType::kF32) << spec.name;
  return static_cast<const float*>(runtime);
}

ParameterStore::ParameterStore(StateRegistry& registry, Device& device,
                               std::vector<ParameterSpec> specs,
                               GradientMode mode)
    : Stateful(registry, "parameters"),
      device_(device),
      masters_(Tensor::Zeros(device, DType::kF32, {TotalMemory(specs, false)})),
      gradients_(
          Tensor::Zeros(device, DType::kF32, {TotalMemory(specs, false)})),
      grid_(Tensor::Zeros(
          device, DType::kI64,
          {mode == GradientMode::kGrid ? TotalMemory(specs, false) : 0})),
      stats_(specs.size()),
      runtime_(
          Tensor::Zeros(device, LowDType(specs), {TotalMemory(specs, true)})) {
  float* master = masters_.data<float>();
  float* grad = gradients_.data<float>();
  int64_t* grid = grid_.data<int64_t>();
  char* runtime = static_cast<char*>(runtime_.raw());
  for (ParameterSpec& spec : specs) {
    const int64_t size = spec.memory();
    const bool low = spec.runtime_dtype != DType::kF32;
    void* place = low ? static_cast<void*>(runtime) : master;
    if (low) runtime += size * SizeOf(spec.runtime_dtype);
    const bool integer = mode == GradientMode::kGrid;
    const GradientSum sum = {
        .mode = mode,
        .sum = integer ? nullptr : grad,
        .grid = integer ? grid : nullptr,
        .stats = integer ? &stats_[parameters_.size()] : nullptr};
    parameters_.push_back({std::move(spec), master, sum, grad, place});
    master += size;
    grad += size;
    grid += integer ? size : 0;
  }
}

void ParameterStore::Initialise(uint64_t seed) {
  for (Parameter& p : parameters_) {
    InitialiseTensor(device_, seed, p.spec.index, p.spec.init,
                     {p.master, static_cast<size_t>(p.spec.count())});
  }
  ConvertAll();
}

void ParameterStore::ConvertAll() {
  for (Parameter& p : parameters_) {
    if (p.runtime == p.master) continue;
    Cast(device_, {.n = p.spec.count(),
                   .src = p.master,
                   .src_dtype = DType::kF32,
                   .dst = p.runtime,
                   .dst_dtype = p.spec.runtime_dtype});
  }
}

void ParameterStore::ZeroGradients() {
  gradients_.SetZero();
  grid_.SetZero();
}

Parameter& ParameterStore::Get(std::string_view name) {
  const auto it =
      std::find_if(parameters_.begin(), parameters_.end(),
                   [&](const Parameter& p) { return p.spec.name == name; });
  LS_CHECK(it != parameters_.end()) << "no parameter " << std::string(name);
  return *it;
}

int64_t ParameterStore::count() const {
  int64_t total = 0;
  for (const Parameter& p : parameters_) total += p.spec.count();
  return total;
}

void ParameterStore::VisitState(StateVisitor& visitor) {
  for (Parameter& p : parameters_) {
    const std::vector<int64_t> origin(p.spec.shape.size(), 0);
    visitor.Tensor({p.spec.name + ".master", StateGroup::kMaster, DType::kF32,
                    p.spec.shape, origin, p.spec.shape, p.master});
    visitor.Tensor({p.spec.name, StateGroup::kRuntime, p.spec.runtime_dtype,
                    p.spec.shape, origin, p.spec.shape, p.runtime});
  }
}

}  // namespace lockstep
