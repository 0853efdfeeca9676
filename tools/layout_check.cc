#include "tools/layout_check.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/run_config.h"

namespace lockstep {
namespace {

// A size that a degree must divide, with the key that sets it.
struct Sliced {
  const char* key;
  int64_t size;
};

std::vector<Sliced> SlicedSizes(const ModelConfig& m) {
  std::vector<Sliced> sizes;
  if (m.Has(LayerKind::kMamba2)) {
    sizes.push_back({"model.mamba_heads", m.mamba_heads});
    sizes.push_back({"model.groups", m.groups});
  }
  if (m.Has(LayerKind::kAttention)) sizes.push_back({"model.heads", m.heads});
  if (m.Has(LayerKind::kMlp)) sizes.push_back({"model.ffn", m.ffn});
  return sizes;
}

int64_t LargestCommonDegree(const std::vector<Sliced>& sizes, int64_t limit) {
  for (int64_t degree = limit; degree > 1; --degree) {
    const bool fits = std::all_of(
        sizes.begin(), sizes.end(),
        [&](const Sliced& sliced) { return sliced.size % degree == 0; });
    if (fits) return degree;
  }
  return 1;
}

void CheckDegree(Recipe& recipe, const RunConfig& c, const char* section,
                 const char* key, int64_t degree) {
  const std::vector<Sliced> sizes = SlicedSizes(c.model);
  for (const Sliced& sliced : sizes) {
    if (sliced.size % degree == 0) continue;
    recipe.Error(
        section, key,
        absl::StrCat(section, ".", key, " = ", degree, " does not divide ",
                     sliced.key, " = ", sliced.size),
        std::to_string(LargestCommonDegree(sizes, degree)));
  }
}

void CheckKeyValueHeads(Recipe& recipe, const RunConfig& c) {
  const int64_t kv = c.model.kv_heads, degree = c.parallel.tensor;
  if (!c.model.Has(LayerKind::kAttention)) return;
  if (kv % degree == 0 || degree % kv == 0) return;
  recipe.Error("parallel", "tensor",
               absl::StrCat("parallel.tensor = ", degree,
                            " neither divides model.kv_heads = ", kv,
                            " nor is a multiple of it"),
               std::to_string(LargestDivisor(kv, degree)));
}

void CheckStages(Recipe& recipe, const RunConfig& c) {
  const int64_t stages = c.parallel.pipeline * c.parallel.interleave;
  const auto layers = static_cast<int64_t>(c.model.Layers().size());
  const auto cuts = static_cast<int64_t>(c.model.StageStarts().size());
  if (layers == 0) return;  // told already
  if (stages > layers) {
    recipe.Error(
        "parallel", "pipeline",
        absl::StrCat(stages, " stages for ", layers, " layers"),
        std::to_string(std::max<int64_t>(layers / c.parallel.interleave, 1)));
  } else if (cuts > 1 && stages > 1 && cuts != stages) {
    recipe.Error("model", "pattern",
                 absl::StrCat("the pattern is cut into ", cuts,
                              " stages; parallel.pipeline * "
                              "parallel.interleave is ",
                              stages));
  }
}

}  // namespace

int64_t LargestDivisor(int64_t n, int64_t limit) {
  for (int64_t divisor = std::min(n, limit); divisor > 1; --divisor) {
    if (n % divisor == 0) return divisor;
  }
  return 1;
}

void CheckLayout(Recipe& recipe, const RunConfig& config) {
  CheckDegree(recipe, config, "parallel", "tensor", config.parallel.tensor);
  CheckKeyValueHeads(recipe, config);
  CheckStages(recipe, config);
  const int64_t data = config.parallel.data.value_or(1);
  const std::vector<int64_t> sizes = config.batches.sizes();
  const int64_t smallest = *std::min_element(sizes.begin(), sizes.end());
  if (smallest >= config.batch.micro && data > smallest / config.batch.micro) {
    recipe.Error("parallel", "data",
                 absl::StrCat("parallel.data = ", data, " replicas for ",
                              smallest / config.batch.micro, " micro-batches"),
                 std::to_string(smallest / config.batch.micro));
  }
  if (config.guarantee != Guarantee::kLayoutInvariant) return;
  CheckDegree(recipe, config, "grid", "tensor", config.grid.tensor);
  if (config.grid.tensor % config.parallel.tensor != 0) {
    recipe.Error(
        "parallel", "tensor",
        absl::StrCat("parallel.tensor = ", config.parallel.tensor,
                     " does not divide grid.tensor = ", config.grid.tensor),
        std::to_string(
            LargestDivisor(config.grid.tensor, config.parallel.tensor)));
  }
  if (config.data.sequence % config.grid.tensor != 0) {
    recipe.Error("data", "sequence",
                 absl::StrCat("data.sequence = ", config.data.sequence,
                              " is not a multiple of grid.tensor = ",
                              config.grid.tensor),
                 std::to_string(config.data.sequence / config.grid.tensor *
                                config.grid.tensor));
  }
}

}  // namespace lockstep
