// Two traces of other layouts, compared by whole tensors (whole_trace.h).
// Private to the comparison.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_LAYOUTS_DIFF_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_LAYOUTS_DIFF_H_

#include <vector>

#include "tools/trace_diff/rank_parting.h"
#include "tools/trace_diff/trace_pair.h"

namespace lockstep {

struct LayoutsParting {
  RankParting parting;     // its rank is -1
  std::vector<int> ranks;  // of a, that did the operation
};

LayoutsParting CompareLayouts(const TracePair& pair);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_LAYOUTS_DIFF_H_
