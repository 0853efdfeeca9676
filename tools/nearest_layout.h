// Layouts near to one that does not fit.
//
// What it is: the few whole layouts, valid by every rule (layout_check.h), that
// change least. What it is not: a planner (tools/plan/), which knows what a
// layout costs. Why so: one key at a time, "the nearest value" of a degree can
// be one that breaks another rule, and a user would go from one refusal to the
// next.
#ifndef LOCKSTEP_TOOLS_NEAREST_LAYOUT_H_
#define LOCKSTEP_TOOLS_NEAREST_LAYOUT_H_

#include <string>
#include <vector>

namespace lockstep {

struct RunConfig;

// At most three, nearest first, as "data 2 x pipeline 1 x tensor 4 (8 ranks)",
// with ", interleave 2" where there is one. Those of as many ranks come before
// the others. Empty: none fits, whatever the degrees.
std::vector<std::string> NearestLayouts(const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_NEAREST_LAYOUT_H_
