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
// Where a trace ends before the other, as of a run that was stopped, killed in
// the midst of a step or is still at work, what the other did behind that is no
// other way: what both have is compared, and where that is equal the verdict is
// ends_early (status 1, since one of them did more).
//
// JSON, fields are only ever added: verdict (equal | ends_early | origin |
// changed_between | control_flow | shape | unknown_inputs | receiver), ends_a
// and ends_b (null, or {step, in_step, beyond}: the last step of that trace,
// whether it was not finished, operations of the other that lie behind), step,
// attempt, rank (null across layouts), ranks (which part there), all_ranks,
// phase, scope, operation, occurrence, tensor, sample, micro_batch, producer
// (of changed_between, text), only_in (of control_flow: a | b), sums_untraced
// (of receiver: a sum over ranks that are not all traced), a and b {dtype,
// shape, fingerprint}, compared, different, missing (operations over all
// ranks), partings [{rank, verdict, operation}], across_layouts, notes.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_DIFF_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_DIFF_H_

#include <map>
#include <optional>
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
  // Where one of them ends before the other, of its ranks the first.
  std::optional<CaptureEnd> end_a, end_b;
  std::vector<std::string> notes;

  // All that both have. One may go on alone.
  bool equal() const { return first.kind == Parting::kNone; }
  bool ends_early() const { return end_a.has_value() || end_b.has_value(); }
};

// Whether both were written by ranks that hold the same.
bool SameLayout(const RanksLists& a, const RanksLists& b);

TraceDifference ComparePair(const TracePair& pair);

// Folders of traces, or runs. InputError for what is none, DataLoss for a
// damaged one; a torn end is a note, and so is what is left out because only
// one of them was asked for it. InputError for traces of different levels,
// and unless they may be, of steps that were cut otherwise (step_shape.h).
absl::StatusOr<TraceDifference> CompareTraces(FileSystem& fs,
                                              const std::string& a,
                                              const std::string& b,
                                              const TraceSteps& steps = {},
                                              bool may_be_cut_otherwise = true);

std::string TraceDifferenceText(const TraceDifference& difference);
std::string TraceDifferenceJson(const TraceDifference& difference);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_DIFF_H_
