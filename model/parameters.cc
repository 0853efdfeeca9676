#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "determinism/check.h"
#include "model/initialise.h"
#include "model/kernels/cast/cast.h"

namespace lockstep {
namespace {

// Builds the list; one method a layer kind, in the order of README's table.
class Lister {
 public:
  Lister(const ModelConfig& config, DType storage, int64_t grid)
      : c_(config), storage_(storage), grid_(grid) {
    const auto layers = static_cast<double>(config.Layers().size());
    matrix_ = {InitKind::kNormal, config.init_std};
    residual_ = {InitKind::kNormal, config.init_std / std::sqrt(layers)};
  }

  std::vector<ParameterSpec> List() {
    Vocabulary("backbone.embeddings.weight");
    const std::vector<LayerKind> layers = c_.Layers();
    for (size_t i = 0; i < layers.size(); ++i) {
      prefix_ = "backbone.layers." + std::to_string(i) + ".";
      Vector("norm.weight", c_.hidden, {InitKind::kOne, 1.0});
      prefix_ += "mixer.";
      Mixer(layers[i]);
    }
    prefix_ = "";
    Vector("backbone.norm_f.weight", c_.hidden, {InitKind::kOne, 1.0});
    Vocabulary("lm_head.weight");
    return std::move(specs_);
  }

 private:
  void Mixer(LayerKind kind) {
    switch (kind) {
      case LayerKind::kMamba2:
        return Mamba2();
      case LayerKind::kAttention:
        return Attention();
      case LayerKind::kMlp:
        Matrix("up_proj.weight", c_.ffn, c_.hidden, matrix_);
        Matrix("down_proj.weight", c_.hidden, c_.ffn, residual_);
    }
  }

  void Mamba2() {
    const InitSpec conv = {InitKind::kUniform, 0.5};
    Matrix("in_proj.weight", c_.in_proj_rows(), c_.hidden, matrix_);
    Add({.name = "conv1d.weight",
         .shape = {c_.conv_channels(), 1, c_.conv},
         .decay = true,
         .init = conv});
    Vector("conv1d.bias", c_.conv_channels(), conv);
    Vector("dt_bias", c_.mamba_heads, {InitKind::kDtBias, 1.0});
    Vector("A_log", c_.mamba_heads, {InitKind::kLogUniformA, 1.0});
    Vector("D", c_.mamba_heads, {InitKind::kOne, 1.0});
    Vector("norm.weight", c_.inner(), {InitKind::kOne, 1.0});
    Matrix("out_proj.weight", c_.hidden, c_.inner(), residual_);
  }

  void Attention() {
    Matrix("q_proj.weight", c_.q_rows(), c_.hidden, matrix_);
    Matrix("k_proj.weight", c_.kv_rows(), c_.hidden, matrix_);
    Matrix("v_proj.weight", c_.kv_rows(), c_.hidden, matrix_);
    Matrix("o_proj.weight", c_.hidden, c_.q_rows(), residual_);
  }

  void Vocabulary(const std::string& name) {
    Add({.name = name,
         .shape = {c_.vocab, c_.hidden},
         .padded_rows = PaddedVocab(c_.vocab, grid_),
         .runtime_dtype = storage_,
         .decay = true,
         .init = matrix_});
  }
  void Matrix(const char* name, int64_t rows, int64_t cols, InitSpec init) {
    Add({.name = name,
         .shape = {rows, cols},
         .runtime_dtype = storage_,
         .decay = true,
         .init = init});
  }
  void Vector(const char* name, int64_t size, InitSpec init) {
    Add({.name = name, .shape = {size}, .init = init});
  }
  void Add(ParameterSpec spec) {
    spec.name = prefix_ + spec.name;
    spec.index = static_cast<int>(specs_.size());
    specs_.push_back(std::move(spec));
  }

  const ModelConfig& c_;
  DType storage_;
  int64_t grid_;
  InitSpec matrix_;
  InitSpec residual_;
  std::string prefix_;
  std::vector<ParameterSpec> specs_;
};

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

int64_t ParameterSpec::count() const {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

int64_t ParameterSpec::memory() const {
  return padded_rows == 0 ? count() : count() / shape[0] * padded_rows;
}

std::vector<ParameterSpec> ListParameters(const ModelConfig& config,
                                          DType storage, int64_t tensor_grid) {
  return Lister(config, storage, tensor_grid).List();
}

ParameterStore::ParameterStore(StateRegistry& registry, Device& device,
                               std::vector<ParameterSpec> specs)
    : Stateful(registry, "parameters"),
      device_(device),
      masters_(Tensor::Zeros(device, DType::kF32, {TotalMemory(specs, false)})),
      gradients_(
          Tensor::Zeros(device, DType::kF32, {TotalMemory(specs, false)})),
      runtime_(
          Tensor::Zeros(device, LowDType(specs), {TotalMemory(specs, true)})) {
  float* master = masters_.data<float>();
  float* grad = gradients_.data<float>();
  char* runtime = static_cast<char*>(runtime_.raw());
  for (ParameterSpec& spec : specs) {
    const int64_t size = spec.memory();
    const bool low = spec.runtime_dtype != DType::kF32;
    void* place = low ? static_cast<void*>(runtime) : master;
    if (low) runtime += size * SizeOf(spec.runtime_dtype);
    parameters_.push_back({std::move(spec), master, grad, place});
    master += size;
    grad += size;
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
  std::fill_n(gradients_.data<float>(), gradients_.count(), 0.0f);
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
