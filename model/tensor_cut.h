// Whether slices cut a model into equal parts (N4), which number does, and the
// sizes of what one rank holds.
//
// What it is: every size that a grid of slices must divide, and the nearest
// grid where one does not. What it is not: the ranges held (split.h), or the
// message: a refusal names keys and lines, and those are the recipe's. Why so:
// a grid that does not fit would have to be rounded somewhere, and the sums
// would no longer be those of the recipe.

#ifndef LOCKSTEP_MODEL_TENSOR_CUT_H_
#define LOCKSTEP_MODEL_TENSOR_CUT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "model/config.h"

namespace lockstep {

// Of the tree, and of its kernel (slice_tree.h).
constexpr int64_t kMostSlices = 64;

// A size of the recipe that is not cut, as "model.ffn" and its value.
struct UncutSize {
  std::string key;
  int64_t size;
};

// The first size of the model, or of its samples of `tokens` tokens, that
// `slices` do not divide; none if all are cut. Key/value heads may be fewer
// than the slices if they divide them.
std::optional<UncutSize> FindUncut(const ModelConfig& config, int64_t slices,
                                   int64_t tokens);

// The power of two that cuts everything and is fewest doublings away from
// `slices`, the smaller of two; 1 always does.
int64_t NearestGrid(const ModelConfig& config, int64_t slices, int64_t tokens);

// Ranks that hold the same key/value head, there being fewer heads than ranks;
// else 1. What TensorAxisOptions::copies asks for.
int64_t KeyValueCopies(const ModelConfig& config, int64_t degree);

// The model that one of `degree` ranks holds: its heads, groups and width. A
// key/value head is the least that a rank has. hidden and vocab stay.
ModelConfig HeldConfig(const ModelConfig& config, int64_t degree);

}  // namespace lockstep

#endif  // LOCKSTEP_MODEL_TENSOR_CUT_H_
