// `trace diff A B`: the operation at which two traces part.
//
// What it is: the partings of all ranks (rank_parting.h) and the one among them
// that explains the others. What it is not: a cause, or a replay (bisect). Why
// so: after the first difference everything differs on every rank; a rank that
// was only sent other numbers must not be blamed.
//
// Both traces of equal ranks: each rank by itself. Of different layouts: whole
// tensors (whole_trace.h).
//
// Among ranks the earliest counts of those that were not merely given other
// numbers (an origin, an input that was changed in between, a control flow that
// parts, a tensor of another kind, an operation that announces no inputs);
// where several ranks part at the same operation, all are named. Only where all
// are receivers does one of them count: then the capture is to be widened.
//
// JSON, fields are only ever added: verdict (equal | origin | changed_between |
// control_flow | shape | unknown_inputs | receiver), step, attempt, rank (null
// across layouts), ranks (which part there), all_ranks, phase, scope,
// operation, occurrence, tensor, sample, micro_batch, producer (of
// changed_between, text), only_in (of control_flow: a | b), a and b {dtype,
// shape, fingerprint}, compared, different, missing (operations over all
// ranks), partings [{rank, verdict, operation}], across_layouts, notes.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_DIFF_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_DIFF_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/trace_diff/rank_parting.h"
#include "tools/trace_diff/trace_folder.h"
#include "tools/trace_diff/trace_pair.h"
#include "tools/trace_diff/whole_trace.h"

namespace lockstep {

struct TraceDifference {
  RankParting first;       // what explains the others
  std::vector<int> ranks;  // that part at the same operation
  std::vector<RankParting> partings;
  bool across_layouts = false;
  int64_t compared = 0, different = 0, missing = 0;
  std::vector<std::string> notes;

  bool equal() const { return first.kind == Parting::kNone; }
};

// Whether both were written by ranks that hold the same.
bool SameLayout(const RanksLists& a, const RanksLists& b);

TraceDifference ComparePair(const TracePair& pair);

// Folders of traces, or runs. InputError for what is none, DataLoss for a
// damaged one; a torn end is a note, and so is what is left out because only
// one of them was asked for it. InputError for traces of different levels.
absl::StatusOr<TraceDifference> CompareTraces(FileSystem& fs,
                                              const std::string& a,
                                              const std::string& b,
                                              const TraceSteps& steps = {});

std::string TraceDifferenceText(const TraceDifference& difference);
std::string TraceDifferenceJson(const TraceDifference& difference);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_DIFF_H_
