// Where two traces of one rank part, and what kind of parting that is.
//
// What it is: operations of both matched by identity, in the order of the first
// trace; the first that is not equal, classed. What it is not: the verdict over
// ranks (trace_diff.h). Why so: what differs first is rarely what did it. Of an
// operation whose inputs were equal and whose outputs are not it can be said
// that it, or what ran under it, is where the runs part; one that was given
// other inputs only passes them on; and one whose input is not what its
// producer left was given something in between, which no operation did.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_RANK_PARTING_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_RANK_PARTING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/trace_diff/capture_end.h"
#include "tools/trace_diff/operation_list.h"
#include "tools/trace_diff/traced_operation.h"

namespace lockstep {

enum class Parting : uint8_t {
  kNone,           // all that was captured is equal
  kControlFlow,    // an operation that only one of them did
  kOrigin,         // inputs equal, outputs different
  kBetween,        // an input differs from what its producer left
  kUnknownInputs,  // outputs differ, and no inputs were captured
  kReceiver,       // inputs differ, and what made them was not captured
  kShape,          // the same operation on tensors of another kind
};
// "origin", "changed_between", "receiver", ...: as JSON has them.
const char* NameOf(Parting parting);

struct RankParting {
  int rank = 0;
  Parting kind = Parting::kNone;
  OperationIdentity identity = {};
  int64_t micro_batch = 0;
  int64_t place = 0;        // of the operation in the first trace
  std::string tensor = {};  // the first output that differs, or the input
  TracedTensor a = {}, b = {};
  // kBetween: the operation that produced the input.
  OperationIdentity producer = {};
  bool only_in_a = false;  // kControlFlow
  // kReceiver: what differs is a sum over ranks that are not all traced.
  bool sums_untraced = false;
  int64_t compared = 0;   // operations that both have
  int64_t different = 0;  // of them
  int64_t missing = 0;    // that one of them lacks
  // Where a trace ends before the other: what the other has behind that is no
  // other way, and counts nowhere.
  std::optional<CaptureEnd> end_a = std::nullopt, end_b = std::nullopt;
};

RankParting PartingOf(int rank, const OperationList& a, const OperationList& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_RANK_PARTING_H_
