// The memory of the parameters that a rank holds; parameter_list.cc has all.
#include "model/parameters.h"

#include <algorithm>
#include <utility>

#include "determinism/check.h"
#include "model/initialise.h"
#include "model/kernels/cast/cast.h"
#include "model/parameter_boxes.h"

namespace lockstep {
namespace {

int64_t CountOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

// Elements in memory of what is held, padding included.
int64_t MemoryOf(const Parameter& p, const TensorShare& share) {
  if (share.degree == 1 || p.spec.split.dim < 0) return p.spec.memory();
  const auto dim = static_cast<size_t>(p.spec.split.dim);
  return p.spec.count() / p.spec.shape[dim] *
         HeldMemory(p.spec.split, share.degree);
}

DType LowDType(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) {
    if (p.spec.runtime_dtype != DType::kF32) return p.spec.runtime_dtype;
  }
  return DType::kBF16;  // of an arena that stays empty
}

// A place in each arena; a tensor is made once the sizes are known.
struct Offsets {
  int64_t master = 0;
  int64_t sum = 0;
  int64_t final = 0;
  int64_t low = 0;
  int64_t f32 = 0;
};

}  // namespace

bool StorePlacement::Holds(const ParameterSpec& spec, int64_t layers) const {
  if (stages.empty()) return true;
  return std::any_of(stages.begin(), stages.end(), [&](const StageRange& s) {
    if (spec.layer < 0) return s.begin == 0;
    if (spec.layer == layers) return s.end == layers;
    return spec.layer >= s.begin && spec.layer < s.end;
  });
}

int64_t Parameter::count() const { return CountOf(shape); }

int64_t Parameter::row_elements() const {
  return shape[0] == 0 ? 0 : count() / shape[0];
}

void* Parameter::owned_runtime() const {
  return static_cast<char*>(runtime) +
         owned_first() * static_cast<int64_t>(SizeOf(spec.runtime_dtype));
}

const float* Parameter::runtime_f32() const {
  LS_CHECK(spec.runtime_dtype == DType::kF32) << spec.name;
  return static_cast<const float*>(runtime);
}

ParameterStore::ParameterStore(StateRegistry& registry, Device& device,
                               std::vector<ParameterSpec> specs,
                               GradientMode mode,
                               const StorePlacement& placement)
    : Stateful(registry, "parameters"),
      device_(device),
      mode_(mode),
      placement_(placement),
      specs_(std::move(specs)),
      parameters_(PlaceParameters(specs_, placement_)),
      sharding_(ShardingOf(parameters_, placement_.data_ranks)),
      stats_(parameters_.size()) {
  Allocate();
}

// With one data rank masters are whole, padding included, and serve as fp32
// run-time weights; with several they are rows.
void ParameterStore::Allocate() {
  const bool whole = placement_.data_ranks == 1;
  const bool grid = mode_ == GradientMode::kGrid;
  std::vector<Offsets> at;
  Offsets next;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& p = parameters_[i];
    const int64_t memory = MemoryOf(p, placement_.tensor);
    const bool low = p.spec.runtime_dtype != DType::kF32;
    at.push_back(next);
    next.master += whole ? memory : p.owned_count();
    next.sum += memory;
    next.final += grid ? p.owned_count() : 0;
    next.low += low ? memory : 0;
    next.f32 += low || whole ? 0 : memory;
  }
  masters_ = Tensor::Zeros(device_, DType::kF32, {next.master});
  sums_ = Tensor::Zeros(device_, grid ? DType::kI64 : DType::kF32, {next.sum});
  final_ = Tensor::Zeros(device_, DType::kF32, {next.final});
  low_ = Tensor::Zeros(device_, LowDType(parameters_), {next.low});
  f32_ = Tensor::Zeros(device_, DType::kF32, {next.f32});
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& p = parameters_[i];
    p.master = masters_.data<float>() + at[i].master;
    p.gradient.mode = mode_;
    if (grid) {
      p.gradient.grid = sums_.data<int64_t>() + at[i].sum;
      p.gradient.stats = &stats_[i];
      p.grad = final_.data<float>() + at[i].final;
    } else {
      p.gradient.sum = sums_.data<float>() + at[i].sum;
      p.grad = p.gradient.sum + p.owned_first();
    }
    if (p.spec.runtime_dtype != DType::kF32) {
      p.runtime = static_cast<char*>(low_.raw()) +
                  at[i].low * static_cast<int64_t>(SizeOf(low_.dtype()));
    } else {
      p.runtime = whole ? p.master : f32_.data<float>() + at[i].f32;
    }
  }
}

void ParameterStore::Initialise(uint64_t seed) {
  for (Parameter& p : parameters_) {
    for (const ParameterRun& run : RunsOf(p, placement_.tensor)) {
      InitialiseTensor(device_, seed, p.spec.index, p.spec.init, run.logical,
                       {p.master + run.owned, static_cast<size_t>(run.count)});
    }
  }
  ConvertAll();
}

void ParameterStore::ConvertAll() {
  for (Parameter& p : parameters_) {
    if (p.owned_runtime() == p.master) continue;
    Cast(device_, {.n = p.owned_count(),
                   .src = p.master,
                   .src_dtype = DType::kF32,
                   .dst = p.owned_runtime(),
                   .dst_dtype = p.spec.runtime_dtype});
  }
}

void ParameterStore::ZeroGradients() { sums_.SetZero(); }

Parameter& ParameterStore::Get(std::string_view name) {
  const auto it =
      std::find_if(parameters_.begin(), parameters_.end(),
                   [&](const Parameter& p) { return p.spec.name == name; });
  LS_CHECK(it != parameters_.end()) << "no parameter " << std::string(name);
  return *it;
}

int64_t ParameterStore::count() const {
  int64_t total = 0;
  for (const ParameterSpec& spec : specs_) total += spec.count();
  return total;
}

void ParameterStore::VisitState(StateVisitor& visitor) {
  VisitRows(visitor, kMasterSuffix, StateGroup::kMaster,
            [](const Parameter& p) { return p.master; });
  VisitRows(visitor, "", StateGroup::kRuntime,
            [](const Parameter& p) { return p.owned_runtime(); });
}

}  // namespace lockstep
