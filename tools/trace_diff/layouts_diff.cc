#include "tools/trace_diff/layouts_diff.h"

#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "tools/trace_diff/capture_end.h"
#include "tools/trace_diff/phase_place.h"
#include "tools/trace_diff/whole_trace.h"

namespace lockstep {
namespace {

RanksOperations AllOf(const RanksLists& ranks) {
  RanksOperations all;
  for (const auto& [rank, list] : ranks) all[rank] = list.All();
  return all;
}

// What a trace may lack because ranks of its run left none.
void LeaveOutWhatIsAlone(std::vector<TracedOperation>& all,
                         const std::vector<TracedOperation>& others) {
  std::set<OperationIdentity> there;
  for (const TracedOperation& other : others) there.insert(other.identity);
  std::erase_if(all, [&](const TracedOperation& operation) {
    return !there.contains(operation.identity);
  });
}

// How far the rank went that went least far.
CaptureEnd ShortestOf(const RanksLists& ranks) {
  CaptureEnd first = {.step = INT64_MAX};
  for (const auto& [rank, list] : ranks) {
    const CaptureEnd end = LastOf(list);
    if (std::tuple(end.step, !end.in_step) <
        std::tuple(first.step, !first.in_step)) {
      first = end;
    }
  }
  return first;
}

// Drops of `all` what lies behind the end of the other trace; of a step that
// was not finished, what the other has not.
std::optional<CaptureEnd> CutBehind(CaptureEnd end,
                                    std::vector<TracedOperation>& all,
                                    const std::vector<TracedOperation>& other) {
  std::set<OperationIdentity> there;
  for (const TracedOperation& operation : other) {
    if (operation.identity.step == end.step) there.insert(operation.identity);
  }
  std::erase_if(all, [&](const TracedOperation& operation) {
    const OperationIdentity& id = operation.identity;
    const bool behind =
        id.step > end.step ||
        (id.step == end.step && end.in_step && !there.contains(id));
    end.beyond += behind && !IsOfLaunch(id.phase);
    return behind;
  });
  return end.beyond > 0 ? std::optional(end) : std::nullopt;
}

}  // namespace

LayoutsParting CompareLayouts(const TracePair& pair) {
  const RanksOperations of_a = AllOf(pair.a), of_b = AllOf(pair.b);
  WholeTraces wholes = WholesOf(of_a, of_b);
  const std::optional<CaptureEnd> end_b =
      CutBehind(ShortestOf(pair.b), wholes.a, wholes.b);
  const std::optional<CaptureEnd> end_a =
      CutBehind(ShortestOf(pair.a), wholes.b, wholes.a);
  if (pair.b_is_partial) LeaveOutWhatIsAlone(wholes.a, wholes.b);
  if (pair.a_is_partial) LeaveOutWhatIsAlone(wholes.b, wholes.a);
  LayoutsParting result;
  result.parting = PartingOf(-1, OperationList(std::move(wholes.a)),
                             OperationList(std::move(wholes.b)));
  result.parting.end_a = end_a;
  result.parting.end_b = end_b;
  const auto at = wholes.ranks_of_a.find(result.parting.identity);
  if (result.parting.kind != Parting::kNone && at != wholes.ranks_of_a.end()) {
    result.ranks = at->second;
  }
  return result;
}

}  // namespace lockstep
