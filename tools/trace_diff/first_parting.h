// Of the places where ranks part, the one that explains the others.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_FIRST_PARTING_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_FIRST_PARTING_H_

#include <vector>

#include "tools/trace_diff/rank_parting.h"

namespace lockstep {

// One at least. The earliest in a step, but whoever was only given other
// numbers comes behind those that were not.
RankParting FirstOf(const std::vector<RankParting>& partings);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_FIRST_PARTING_H_
