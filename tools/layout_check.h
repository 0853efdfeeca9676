// Whether a parallel layout fits the model: every rule, with the nearest layout
// that does.
//
// What it is: the constraints of tensor and pipeline parallelism (heads and
// groups divide, the grid can cut every sliced part, stages match cuts), told
// as errors of the recipe before any work is done. What it is not: the layout's
// cost. Why so: an impossible layout must be refused by key and line.
#ifndef LOCKSTEP_TOOLS_LAYOUT_CHECK_H_
#define LOCKSTEP_TOOLS_LAYOUT_CHECK_H_

#include <cstdint>

#include "recipes/recipe.h"

namespace lockstep {

struct RunConfig;

// Largest divisor of n that is at most `limit` (>= 1).
int64_t LargestDivisor(int64_t n, int64_t limit);

// Adds an error to `recipe` for each rule that the layout breaks.
void CheckLayout(Recipe& recipe, const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAYOUT_CHECK_H_
