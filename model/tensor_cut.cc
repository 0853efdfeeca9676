#include "model/tensor_cut.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "determinism/check.h"

namespace lockstep {
namespace {

std::vector<UncutSize> SlicedSizes(const ModelConfig& c, int64_t slices,
                                   int64_t tokens) {
  std::vector<UncutSize> sizes = {{"data.sequence", tokens}};
  if (c.Has(LayerKind::kMlp)) sizes.push_back({"model.ffn", c.ffn});
  if (c.Has(LayerKind::kMamba2)) {
    sizes.push_back({"model.mamba_heads", c.mamba_heads});
    sizes.push_back({"model.groups * model.state", c.groups * c.state});
  }
  if (c.Has(LayerKind::kAttention)) {
    sizes.push_back({"model.heads", c.heads});
    sizes.push_back({"model.kv_heads * model.head_dim", c.kv_rows()});
    if (slices % c.kv_heads != 0) {
      sizes.push_back({"model.kv_heads", c.kv_heads});
    }
  }
  return sizes;
}

bool Cuts(const ModelConfig& config, int64_t slices, int64_t tokens) {
  return slices >= 1 && slices <= kMostSlices &&
         !FindUncut(config, slices, tokens).has_value();
}

}  // namespace

std::optional<UncutSize> FindUncut(const ModelConfig& config, int64_t slices,
                                   int64_t tokens) {
  for (UncutSize& sliced : SlicedSizes(config, slices, tokens)) {
    if (sliced.size % slices != 0) return std::move(sliced);
  }
  return std::nullopt;
}

int64_t NearestGrid(const ModelConfig& config, int64_t slices, int64_t tokens) {
  for (int64_t factor = 1; factor <= kMostSlices; factor *= 2) {
    for (const int64_t grid : {slices / factor, slices * factor}) {
      if (Cuts(config, grid, tokens)) return grid;
    }
  }
  return 1;
}

int64_t KeyValueCopies(const ModelConfig& config, int64_t degree) {
  if (!config.Has(LayerKind::kAttention)) return 1;
  return std::max<int64_t>(degree / config.kv_heads, 1);
}

ModelConfig HeldConfig(const ModelConfig& config, int64_t degree) {
  ModelConfig held = config;
  if (degree == 1) return held;
  const auto cut = [degree](int64_t& size) {
    LS_CHECK_EQ(size % degree, 0) << "a degree that does not divide";
    size /= degree;
  };
  if (config.Has(LayerKind::kMlp)) cut(held.ffn);
  if (config.Has(LayerKind::kMamba2)) {
    cut(held.mamba_heads);
    cut(held.groups);
  }
  if (config.Has(LayerKind::kAttention)) {
    cut(held.heads);
    held.kv_heads = std::max<int64_t>(config.kv_heads / degree, 1);
  }
  return held;
}

}  // namespace lockstep
