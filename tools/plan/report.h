// A plan as a person and as a program reads it.
#ifndef LOCKSTEP_TOOLS_PLAN_REPORT_H_
#define LOCKSTEP_TOOLS_PLAN_REPORT_H_

#include <string>
#include <vector>

#include "tools/plan/plan.h"

namespace lockstep {

// The best layouts, at most `most` of them and the recipe's own, and why the
// first is the first.
std::string PlanText(const std::vector<PlannedLayout>& layouts,
                     const PlanRequest& request, size_t most = 24);

// One line: {"world", "world_before", "hosts", "memory_bytes", "reason",
// "layouts": [...]}; all layouts, the best first. model/LAYOUT_COST.md has the
// fields.
std::string PlanJson(const std::vector<PlannedLayout>& layouts,
                     const PlanRequest& request);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_PLAN_REPORT_H_
