#include "tools/trace_diff/trace_diff.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

// What says most about the cause comes first.
int Weight(Parting kind) {
  switch (kind) {
    case Parting::kNone:
      return 2;
    case Parting::kReceiver:
      return 1;
    default:
      return 0;
  }
}

// Forward and backward take turns; what follows them comes in phases, and ranks
// of other stages do not come to it at the same place.
int Late(const RankParting& parting) {
  if (parting.identity.phase.empty()) return kPhaseCount;  // after the step
  const Phase phase =
      PhaseFromName(parting.identity.phase).value_or(Phase::kForward);
  return phase < Phase::kReduction ? 0 : static_cast<int>(phase);
}

auto OrderOf(const RankParting& parting) {
  return std::tuple(parting.kind == Parting::kNone, parting.identity.step,
                    parting.identity.attempt, Weight(parting.kind),
                    Late(parting), parting.place, parting.rank);
}

// Whether both were written by ranks that hold the same: as far as the first
// operations of each rank tell.
bool SameLayout(const RanksOperations& a, const RanksOperations& b) {
  if (a.size() != b.size()) return false;
  for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) {
    if (x->first != y->first) return false;
    std::set<std::pair<std::string, std::string>> mine, other;
    for (const TracedOperation& o : x->second) {
      mine.emplace(o.identity.scope, o.identity.operation);
    }
    for (const TracedOperation& o : y->second) {
      other.emplace(o.identity.scope, o.identity.operation);
    }
    // Another stage does other layers.
    std::vector<std::pair<std::string, std::string>> both;
    std::set_intersection(mine.begin(), mine.end(), other.begin(), other.end(),
                          std::back_inserter(both));
    if (both.size() * 2 < std::max(mine.size(), other.size())) return false;
    for (const auto& first : x->second) {
      const auto match = std::find_if(y->second.begin(), y->second.end(),
                                      [&](const TracedOperation& o) {
                                        return o.identity == first.identity;
                                      });
      if (match == y->second.end() || first.outputs.empty()) continue;
      if (match->outputs.size() == first.outputs.size() &&
          match->outputs[0].whole() == first.outputs[0].whole() &&
          match->outputs[0].held != first.outputs[0].held) {
        return false;
      }
    }
  }
  return true;
}

void Sum(TraceDifference& d) {
  for (const RankParting& parting : d.partings) {
    d.compared += parting.compared;
    d.different += parting.different;
    d.missing += parting.missing;
  }
}

absl::StatusOr<RanksOperations> ReadAll(FileSystem& fs, TraceFolder& folder,
                                        const TraceSteps& steps) {
  RanksOperations ranks;
  for (const auto& [rank, files] : folder.files) {
    LS_ASSIGN_OR_RETURN(ranks[rank], OperationsOf(fs, folder, rank, steps));
  }
  return ranks;
}

TraceDifference CompareLayouts(const RanksOperations& a,
                               const RanksOperations& b) {
  TraceDifference d;
  d.across_layouts = true;
  std::map<OperationIdentity, std::vector<int>> ranks;
  d.first = PartingOf(-1, WholeTrace(a, &ranks), WholeTrace(b));
  d.partings = {d.first};
  const auto at = ranks.find(d.first.identity);
  if (!d.equal() && at != ranks.end()) d.ranks = at->second;
  Sum(d);
  return d;
}

}  // namespace

TraceDifference CompareRanks(const RanksOperations& a,
                             const RanksOperations& b) {
  if (!SameLayout(a, b)) return CompareLayouts(a, b);
  TraceDifference d;
  for (const auto& [rank, operations] : a) {
    d.partings.push_back(PartingOf(rank, operations, b.at(rank)));
  }
  d.first = *std::min_element(d.partings.begin(), d.partings.end(),
                              [](const RankParting& x, const RankParting& y) {
                                return OrderOf(x) < OrderOf(y);
                              });
  for (const RankParting& parting : d.partings) {
    if (!d.equal() && parting.identity == d.first.identity &&
        parting.kind == d.first.kind) {
      d.ranks.push_back(parting.rank);
    }
  }
  Sum(d);
  return d;
}

absl::StatusOr<TraceDifference> CompareTraces(FileSystem& fs,
                                              const std::string& a,
                                              const std::string& b,
                                              const TraceSteps& steps) {
  LS_ASSIGN_OR_RETURN(TraceFolder folder_a, OpenTraceFolder(fs, a));
  LS_ASSIGN_OR_RETURN(TraceFolder folder_b, OpenTraceFolder(fs, b));
  LS_ASSIGN_OR_RETURN(const RanksOperations ranks_a,
                      ReadAll(fs, folder_a, steps));
  LS_ASSIGN_OR_RETURN(const RanksOperations ranks_b,
                      ReadAll(fs, folder_b, steps));
  if (folder_a.level != folder_b.level) {
    return InputError(absl::StrCat("one trace is of level ", folder_a.level,
                                   ", the other of level ", folder_b.level),
                      absl::StrCat(a, ", ", b), "trace both at the same level");
  }
  TraceDifference d = CompareRanks(ranks_a, ranks_b);
  d.notes = std::move(folder_a.notes);
  d.notes.insert(d.notes.end(), folder_b.notes.begin(), folder_b.notes.end());
  if (d.compared == 0) {
    return InputError("the traces have no operation in common",
                      absl::StrCat(a, ", ", b),
                      "trace the same steps, with micro-batches of one size");
  }
  return d;
}

}  // namespace lockstep
