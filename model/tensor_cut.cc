#include "model/tensor_cut.h"

#include <vector>

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

}  // namespace lockstep
