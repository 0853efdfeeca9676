#include "model/cost_shape.h"

#include <numeric>

#include "model/tensor_cut.h"

namespace lockstep {
namespace {

double Of(int64_t count) { return static_cast<double>(count); }

}  // namespace

int64_t VocabularyCuts(const CostOptions& options, int64_t degree) {
  return std::lcm(options.tensor_grid, degree);
}

CostShape ShapeOfCosts(const ModelConfig& model, const CostOptions& options,
                       int64_t degree) {
  const bool invariant = options.guarantee >= Guarantee::kLayoutInvariant;
  const int64_t slices = invariant ? options.tensor_grid : degree;
  const int64_t copies = KeyValueCopies(model, degree);
  const int64_t kv_slices =
      slices > model.kv_heads ? slices / model.kv_heads / copies : 0;
  const int64_t vocab =
      PaddedVocab(model.vocab, VocabularyCuts(options, degree));
  return {.held = HeldConfig(model, degree),
          .element = Of(static_cast<int64_t>(SizeOf(options.storage))),
          .degree = Of(degree),
          .slices = Of(slices),
          .copies = Of(copies),
          .kv_slices = Of(kv_slices),
          .vocab_columns = Of(vocab / degree),
          .samples = Of(options.micro),
          .tokens = Of(options.tokens),
          .samples_per_leaf = Of(options.samples_per_leaf),
          .grid = invariant,
          .recompute = options.recompute,
          .sequence = options.sequence_parallel && degree > 1};
}

}  // namespace lockstep
