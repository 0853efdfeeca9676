// Two folders of traces, as far as one can be held against the other.
//
// What it is: what each rank of both did, without what the other was not asked
// for (trace_filter.h) and without ranks that the other did not trace. What it
// is not: a comparison. Why so: whoever compares, finds distances or draws a
// tree must leave out the same.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_PAIR_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_PAIR_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/trace_diff/operation_list.h"
#include "tools/trace_diff/trace_folder.h"

namespace lockstep {

using RanksLists = std::map<int, OperationList>;

struct TracePair {
  RanksLists a, b;
  // Some ranks of the run left no trace, so what it lacks may be theirs.
  bool a_is_partial = false, b_is_partial = false;
  std::vector<std::string> notes = {};  // torn ends, and what is left out
};

// InputError for what is no trace, or of different levels; DataLoss for a
// damaged one.
absl::StatusOr<TracePair> ReadTracePair(FileSystem& fs, const std::string& a,
                                        const std::string& b,
                                        const TraceSteps& steps = {});

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_PAIR_H_
