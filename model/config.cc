#include "model/config.h"

#include <algorithm>
#include <string>

namespace lockstep {
namespace {

// No size of a model comes near; products of three of them stay below 2^63.
constexpr int64_t kLargest = int64_t{1} << 20;

constexpr char kKnown[] = "M*-E|";

void DescribeSizes(Section& s, ModelConfig& c) {
  s.Int("hidden", c.hidden,
        {.min = 1, .max = kLargest, .help = "width of the residual stream"});
  s.Int("vocab", c.vocab,
        {.min = 0,
         .max = kLargest,
         .help = "number of token ids; 0 takes the tokenizer's"});
  s.Int("ffn", c.ffn,
        {.min = 1, .max = kLargest, .help = "inner width of an MLP layer"});
  s.Int("heads", c.heads,
        {.min = 1, .max = kLargest, .help = "query heads of attention"});
  s.Int("kv_heads", c.kv_heads,
        {.min = 1,
         .max = kLargest,
         .help = "key/value heads; heads is a multiple of it"});
  s.Int("head_dim", c.head_dim,
        {.min = 1, .max = kLargest, .help = "width of a query head"});
  s.Int("mamba_heads", c.mamba_heads,
        {.min = 1, .max = kLargest, .help = "heads of Mamba-2"});
  s.Int("mamba_head_dim", c.mamba_head_dim,
        {.min = 1, .max = kLargest, .help = "width of a Mamba-2 head"});
  s.Int("groups", c.groups,
        {.min = 1,
         .max = kLargest,
         .help = "groups of B and C; mamba_heads is a multiple"});
  s.Int("state", c.state,
        {.min = 1, .max = kLargest, .help = "state size of Mamba-2"});
  s.Int("conv", c.conv,
        {.min = 4, .max = 4, .help = "taps of the causal convolution"});
  s.Int("chunk", c.chunk,
        {.min = 1,
         .max = kLargest,
         .help = "chunk length of the scan; decides its order"});
  s.Int("key_block", c.key_block,
        {.min = 32,
         .max = kLargest,
         .multiple_of = 32,
         .help = "key block of attention; decides its order"});
}

void DescribeRest(Section& s, ModelConfig& c) {
  s.Real("hidden_dropout", c.hidden_dropout,
         {.min = 0.0, .max = 0.95, .help = "dropout on a mixer's output"});
  s.Real("norm_eps", c.norm_eps,
         {.min = 1e-12, .max = 1.0, .help = "epsilon inside the norms' root"});
  s.Real("init_std", c.init_std,
         {.min = 0.0, .max = 10.0, .help = "deviation of initial matrices"});
  s.Bool("tie", c.tie, {.help = "tied embeddings: not supported"});
  s.Require(!c.tie, "tie", "embedding and head are untied in this model",
            "false");
}

void CheckShape(Section& s, const ModelConfig& c) {
  s.Require(c.heads % c.kv_heads == 0, "kv_heads",
            "heads must be a multiple of kv_heads", std::to_string(c.heads));
  s.Require(c.mamba_heads % c.groups == 0, "groups",
            "mamba_heads must be a multiple of groups",
            std::to_string(c.mamba_heads));
  s.Require(c.inner() % c.groups == 0, "groups",
            "mamba_heads * mamba_head_dim must be a multiple of groups", "");
}

void CheckPattern(Section& s, const ModelConfig& c) {
  const bool known = c.pattern.find_first_not_of(kKnown) == std::string::npos;
  s.Require(known, "pattern",
            "a layer is M (Mamba-2), * (attention) or - (MLP); | cuts stages",
            "M-M*-");
  s.Require(c.pattern.find('E') == std::string::npos, "pattern",
            "mixture-of-experts layers (E) are not built yet", "-");
  s.Require(c.pattern.find_first_of("M*-") != std::string::npos, "pattern",
            "a model has at least one layer", "M-M*-");
  const bool empty_stage = c.pattern.find("||") != std::string::npos ||
                           c.pattern.starts_with('|') ||
                           c.pattern.ends_with('|');
  s.Require(!empty_stage, "pattern", "a stage without a layer", "M-|M*-");
}

}  // namespace

void DescribeSection(Section& section, ModelConfig& config) {
  section.String("pattern", config.pattern,
                 {.help = "layers: M Mamba-2, * attention, - MLP; | cuts"});
  section.Require(section.Given("pattern"), "pattern",
                  "a model needs its layers", "M-M*-");
  DescribeSizes(section, config);
  DescribeRest(section, config);
  CheckPattern(section, config);
  CheckShape(section, config);
}

std::vector<LayerKind> ModelConfig::Layers() const {
  std::vector<LayerKind> layers;
  for (const char c : pattern) {
    if (c != '|') layers.push_back(static_cast<LayerKind>(c));
  }
  return layers;
}

std::vector<int64_t> ModelConfig::StageStarts() const {
  std::vector<int64_t> starts = {0};
  int64_t layer = 0;
  for (const char c : pattern) {
    if (c == '|') {
      starts.push_back(layer);
    } else {
      ++layer;
    }
  }
  return starts;
}

bool ModelConfig::Has(LayerKind kind) const {
  return pattern.find(static_cast<char>(kind)) != std::string::npos;
}

int64_t PaddedVocab(int64_t vocab, int64_t tensor_grid) {
  const int64_t multiple = 128 * std::max<int64_t>(tensor_grid, 1);
  return (vocab + multiple - 1) / multiple * multiple;
}

namespace {

// Multiply-adds of one layer for one sample of `t` tokens.
double LayerMultiplyAdds(const ModelConfig& c, LayerKind kind, double t) {
  const double d = c.hidden;
  switch (kind) {
    case LayerKind::kMlp:
      return 2 * t * d * c.ffn;
    case LayerKind::kAttention:
      return t * d * (c.qkv_rows() + c.q_rows()) + t * t * c.q_rows();
    case LayerKind::kMamba2: {
      const double q = std::min<double>(c.chunk, t);
      const double scores = t * q / 2 * c.groups * c.state;
      const double inside = t * q / 2 * c.inner();
      const double states = 2 * t * c.inner() * c.state;
      return t * d * (c.in_proj_rows() + c.inner()) + scores + inside + states;
    }
  }
  return 0;
}

int64_t LayerParameters(const ModelConfig& c, LayerKind kind) {
  switch (kind) {
    case LayerKind::kMlp:
      return c.hidden + 2 * c.hidden * c.ffn;
    case LayerKind::kAttention:
      return c.hidden + c.hidden * (c.qkv_rows() + c.q_rows());
    case LayerKind::kMamba2:
      return c.hidden + c.hidden * (c.in_proj_rows() + c.inner()) +
             c.conv_channels() * (c.conv + 1) + 3 * c.mamba_heads + c.inner();
  }
  return 0;
}

}  // namespace

double ModelFlopsPerStep(const ModelConfig& config, int64_t samples,
                         int64_t tokens) {
  double total = static_cast<double>(tokens) * config.hidden * config.vocab;
  for (const LayerKind kind : config.Layers()) {
    total += LayerMultiplyAdds(config, kind, static_cast<double>(tokens));
  }
  return 3.0 * 2.0 * total * static_cast<double>(samples);
}

std::vector<int64_t> LayerCosts(const ModelConfig& config, int64_t tokens) {
  const double t = tokens, head = t * config.hidden * config.vocab;
  std::vector<int64_t> costs;
  for (const LayerKind kind : config.Layers()) {
    // Sizes that no machine has cost the most that 128 layers can add up.
    costs.push_back(static_cast<int64_t>(
        std::min(LayerMultiplyAdds(config, kind, t), 0x1p55)));
  }
  if (costs.empty()) return costs;
  costs.back() += static_cast<int64_t>(std::min(head, 0x1p55));
  return costs;
}

int64_t ParameterCount(const ModelConfig& config) {
  int64_t total = 2 * config.vocab * config.hidden + config.hidden;
  for (const LayerKind kind : config.Layers()) {
    total += LayerParameters(config, kind);
  }
  return total;
}

}  // namespace lockstep
