// The list of parameters, one method a layer kind; sharing as in split.h.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/parameters.h"

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
      layer_ = static_cast<int64_t>(i);
      StreamNorm("norm.weight");
      prefix_ += "mixer.";
      Mixer(layers[i]);
    }
    prefix_ = "";
    layer_ = static_cast<int64_t>(layers.size());
    StreamNorm("backbone.norm_f.weight");
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
        Matrix("up_proj.weight", c_.ffn, c_.hidden, matrix_, Rows({c_.ffn}));
        Matrix("down_proj.weight", c_.hidden, c_.ffn, residual_,
               Columns(c_.ffn));
    }
  }

  void Mamba2() {
    const InitSpec conv = {InitKind::kUniform, 0.5};
    const int64_t inner = c_.inner(), bc = c_.groups * c_.state;
    const TensorSplit channels = Rows({inner, bc, bc});
    const TensorSplit heads = Rows({c_.mamba_heads});
    Matrix("in_proj.weight", c_.in_proj_rows(), c_.hidden, matrix_,
           Rows({inner, inner, bc, bc, c_.mamba_heads}));
    Add({.name = "conv1d.weight",
         .shape = {c_.conv_channels(), 1, c_.conv},
         .decay = true,
         .init = conv,
         .split = channels});
    Vector("conv1d.bias", c_.conv_channels(), conv, channels);
    Vector("dt_bias", c_.mamba_heads, {InitKind::kDtBias, 1.0}, heads);
    Vector("A_log", c_.mamba_heads, {InitKind::kLogUniformA, 1.0}, heads);
    Vector("D", c_.mamba_heads, {InitKind::kOne, 1.0}, heads);
    Vector("norm.weight", inner, {InitKind::kOne, 1.0}, Rows({inner}));
    Matrix("out_proj.weight", c_.hidden, inner, residual_, Columns(inner));
  }

  void Attention() {
    const TensorSplit kv = Rows({c_.kv_rows()}, c_.kv_heads);
    Matrix("q_proj.weight", c_.q_rows(), c_.hidden, matrix_,
           Rows({c_.q_rows()}));
    Matrix("k_proj.weight", c_.kv_rows(), c_.hidden, matrix_, kv);
    Matrix("v_proj.weight", c_.kv_rows(), c_.hidden, matrix_, kv);
    Matrix("o_proj.weight", c_.hidden, c_.q_rows(), residual_,
           Columns(c_.q_rows()));
  }

  static TensorSplit Rows(std::vector<int64_t> parts, int64_t units = 0) {
    int64_t length = 0;
    for (const int64_t part : parts) length += part;
    return {
        .dim = 0, .parts = std::move(parts), .units = units, .length = length};
  }
  static TensorSplit Columns(int64_t length) {
    return {.dim = 1, .parts = {length}, .units = 0, .length = length};
  }

  void Vocabulary(const std::string& name) {
    const int64_t padded = PaddedVocab(c_.vocab, grid_);
    Add({.name = name,
         .shape = {c_.vocab, c_.hidden},
         .padded_rows = padded,
         .runtime_dtype = storage_,
         .decay = true,
         .init = matrix_,
         .split = {
             .dim = 0, .parts = {padded}, .units = 0, .length = c_.vocab}});
  }
  void Matrix(const char* name, int64_t rows, int64_t cols, InitSpec init,
              TensorSplit split) {
    Add({.name = name,
         .shape = {rows, cols},
         .runtime_dtype = storage_,
         .decay = true,
         .init = init,
         .split = std::move(split)});
  }
  void Vector(const std::string& name, int64_t size, InitSpec init,
              TensorSplit split = {}) {
    Add({.name = name,
         .shape = {size},
         .init = init,
         .split = std::move(split)});
  }
  // A norm of the residual stream, which tensor ranks share by tokens.
  void StreamNorm(const std::string& name) {
    Vector(name, c_.hidden, {InitKind::kOne, 1.0});
    specs_.back().token_sliced = true;
  }
  void Add(ParameterSpec spec) {
    spec.name = prefix_ + spec.name;
    spec.layer = layer_;
    spec.index = static_cast<int>(specs_.size());
    specs_.push_back(std::move(spec));
  }

  const ModelConfig& c_;
  DType storage_;
  int64_t grid_;
  InitSpec matrix_;
  InitSpec residual_;
  std::string prefix_;
  int64_t layer_ = -1;
  std::vector<ParameterSpec> specs_;
};

}  // namespace

int64_t ParameterSpec::count() const {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

int64_t ParameterSpec::memory() const {
  int64_t n = padded_rows == 0 ? shape[0] : padded_rows;
  for (size_t dim = 1; dim < shape.size(); ++dim) n *= shape[dim];
  return n;
}

std::vector<ParameterSpec> ListParameters(const ModelConfig& config,
                                          DType storage, int64_t tensor_grid) {
  return Lister(config, storage, tensor_grid).List();
}

}  // namespace lockstep
