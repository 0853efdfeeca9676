#include "tools/trace_diff/trace_diff.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/trace_diff/first_parting.h"
#include "tools/trace_diff/layouts_diff.h"
#include "tools/trace_diff/phase_place.h"
#include "tools/trace_diff/shared_sum.h"
#include "tools/trace_diff/step_shape.h"

namespace lockstep {
namespace {

// Replicas do the same with other samples.
bool SamePlace(OperationIdentity a, OperationIdentity b) {
  a.first_sample = b.first_sample = 0;
  return a == b;
}

// As far as the first operations of a rank tell: some micro-batches of it.
constexpr size_t kFirstOperations = 4096;

using Names = std::set<std::pair<std::string, std::string>>;

// Whether one of these ranks does other layers, or holds another part of what
// both do.
bool SameShare(const OperationList& a, const OperationList& b) {
  Names mine, others, both;
  for (size_t i = 0; i < std::min(kFirstOperations, a.size()); ++i) {
    if (a.OfLaunch(i)) continue;
    const TracedOperation first = a.At(i);
    mine.emplace(first.identity.scope, first.identity.operation);
    const auto match = b.Find(a, i);
    if (!match || first.outputs.empty()) continue;
    const TracedOperation other = b.At(*match);
    if (other.outputs.size() == first.outputs.size() &&
        other.outputs[0].whole() == first.outputs[0].whole() &&
        other.outputs[0].held != first.outputs[0].held) {
      return false;
    }
  }
  for (size_t i = 0; i < std::min(kFirstOperations, b.size()); ++i) {
    if (b.OfLaunch(i)) continue;
    const OperationIdentity identity = b.At(i).identity;
    others.emplace(identity.scope, identity.operation);
  }
  std::set_intersection(mine.begin(), mine.end(), others.begin(), others.end(),
                        std::inserter(both, both.end()));
  return both.size() * 2 >= std::max(mine.size(), others.size());
}

void Sum(TraceDifference& d) {
  for (const RankParting& parting : d.partings) {
    d.compared += parting.compared;
    d.different += parting.different;
    d.missing += parting.missing;
    d.end_a = Earlier(d.end_a, parting.end_a);
    d.end_b = Earlier(d.end_b, parting.end_b);
  }
}

// A message that differs though both senders sent the same: it was changed on
// its way.
void BlameTransport(const RanksLists& a, const RanksLists& b,
                    RankParting& parting) {
  if (parting.kind != Parting::kReceiver ||
      !IsReceive(parting.identity.phase, parting.identity.operation)) {
    return;
  }
  OperationIdentity sent = parting.identity;
  sent.operation = "send";
  for (const auto& [rank, list] : a) {
    const auto in_a = list.Find(sent);
    const auto in_b = b.at(rank).Find(sent);
    if (!in_a || !in_b || !list.SameTensors(*in_a, b.at(rank), *in_b)) continue;
    // Whichever run it was changed in, the other received what was sent.
    const Fingerprint value = list.At(*in_a).outputs.at(0).value;
    if (value != parting.a.value && value != parting.b.value) continue;
    parting.kind = Parting::kBetween;
    parting.producer = sent;
  }
}

}  // namespace

bool SameLayout(const RanksLists& a, const RanksLists& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first && SameShare(x.second, y.second);
      });
}

TraceDifference ComparePair(const TracePair& pair) {
  const RanksLists &a = pair.a, &b = pair.b;
  TraceDifference d;
  if (!SameLayout(a, b)) {
    LayoutsParting layouts = CompareLayouts(pair);
    d.across_layouts = true;
    d.first = layouts.parting;
    d.ranks = std::move(layouts.ranks);
    d.partings = {d.first};
    Sum(d);
    return d;
  }
  for (const auto& [rank, operations] : a) {
    d.partings.push_back(PartingOf(rank, operations, b.at(rank)));
  }
  for (RankParting& parting : d.partings) {
    BlameTransport(a, b, parting);
    if (!SumsOverUntraced(a, parting)) continue;
    parting.kind = Parting::kReceiver;
    parting.sums_untraced = true;
  }
  d.first = FirstOf(d.partings);
  for (const RankParting& parting : d.partings) {
    if (!d.equal() && parting.kind == d.first.kind &&
        SamePlace(parting.identity, d.first.identity)) {
      d.ranks.push_back(parting.rank);
    }
  }
  Sum(d);
  return d;
}

absl::StatusOr<TraceDifference> CompareTraces(FileSystem& fs,
                                              const std::string& a,
                                              const std::string& b,
                                              const TraceSteps& steps,
                                              bool may_be_cut_otherwise) {
  LS_ASSIGN_OR_RETURN(TracePair pair, ReadTracePair(fs, a, b, steps));
  if (!may_be_cut_otherwise) {
    LS_RETURN_IF_ERROR(CheckSameCut(pair, absl::StrCat(a, ", ", b)));
  }
  TraceDifference d = ComparePair(pair);
  d.notes = std::move(pair.notes);
  if (d.compared == 0) {
    return InputError("the traces have no operation in common",
                      absl::StrCat(a, ", ", b),
                      "trace the same steps and modules, with micro-batches of "
                      "one size, and two layouts with trace.level=operation");
  }
  return d;
}

}  // namespace lockstep
