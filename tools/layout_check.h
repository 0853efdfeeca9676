// Whether a parallel layout fits the model: every rule, with the nearest layout
// that does.
//
// What it is: the constraints of tensor and pipeline parallelism (heads and
// groups divide, the grid can cut every sliced part, stages match cuts), as a
// list, and told as errors of the recipe before any work is done. What it is
// not: the layout's cost (model/layout_cost.h). Why so: an impossible layout
// must be refused by key and line, and a planner (tools/plan/) must offer what
// a launch admits and nothing else.
#ifndef LOCKSTEP_TOOLS_LAYOUT_CHECK_H_
#define LOCKSTEP_TOOLS_LAYOUT_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/recipe.h"

namespace lockstep {

struct RunConfig;

// Largest divisor of n that is at most `limit` (>= 1).
int64_t LargestDivisor(int64_t n, int64_t limit);

// A rule that a layout breaks, by the key that would have to change.
struct LayoutError {
  std::string section;
  std::string key;
  std::string message;
  std::string nearest = {};  // a valid value, or ""
};
std::vector<LayoutError> LayoutErrors(const RunConfig& config);

// Adds all of them to `recipe`.
void CheckLayout(Recipe& recipe, const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAYOUT_CHECK_H_
