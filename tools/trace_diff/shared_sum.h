// Operations that add up what several ranks have, some of which left no trace.
// Private to the comparison.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_SHARED_SUM_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_SHARED_SUM_H_

#include "tools/trace_diff/rank_parting.h"
#include "tools/trace_diff/trace_pair.h"

namespace lockstep {

// A sum over tensor ranks is part of the operation that takes it, and its own
// inputs tell nothing of what came from the others. True where the output that
// differs is such a sum (it is whole, and another tensor of the operation is
// cut over ranks) and `ranks` has not all that was added up: then the rank may
// have been given other numbers.
bool SumsOverUntraced(const RanksLists& ranks, const RankParting& parting);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_SHARED_SUM_H_
