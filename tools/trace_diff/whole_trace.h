// A trace of many ranks as if one had done it all.
//
// What it is: each tensor of each operation as a whole, its fingerprint the sum
// of those of the parts that ranks held (N11), in an order in which nothing
// stands before what it needs. What it is not: for another split into
// micro-batches: an operation is one micro-batch's, and is matched by its first
// sample. Why so: two layouts can be compared, and what differs first between
// them is what should not.
//
// Left out: records of a whole phase or module, whose hashes are no sums over
// parts, what ranks exchange, which is another thing on another layout, running
// sums of gradients (`..._sum`), which depend on who adds up which samples, and
// tensors whose parts do not cover them in one of the traces, as where a rank's
// is missing. Where ranks hold copies of a part that are not equal, the whole
// takes their difference in, so that it equals no sound one.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_WHOLE_TRACE_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_WHOLE_TRACE_H_

#include <map>
#include <vector>

#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

using RanksOperations = std::map<int, std::vector<TracedOperation>>;

// Of two traces that are to be compared.
struct WholeTraces {
  std::vector<TracedOperation> a, b;
  // Of each operation of a the ranks that did it, ascending.
  std::map<OperationIdentity, std::vector<int>> ranks_of_a = {};
};

WholeTraces WholesOf(const RanksOperations& a, const RanksOperations& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_WHOLE_TRACE_H_
