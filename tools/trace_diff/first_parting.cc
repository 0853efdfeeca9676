#include "tools/trace_diff/first_parting.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "tools/trace_diff/phase_place.h"

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

auto OrderOf(const RankParting& parting) {
  return std::tuple(
      parting.kind == Parting::kNone, parting.identity.step,
      parting.identity.attempt, Weight(parting.kind),
      PlaceInStep(parting.identity.phase, parting.identity.operation),
      parting.place, parting.rank);
}

}  // namespace

// What ranks sum or gather shows no inputs, so it looks like an origin: but a
// rank that was given other numbers before it may be where they come from.
RankParting FirstOf(const std::vector<RankParting>& partings) {
  const auto before = [](const RankParting& x, const RankParting& y) {
    return OrderOf(x) < OrderOf(y);
  };
  RankParting first =
      *std::min_element(partings.begin(), partings.end(), before);
  const std::string phase = first.identity.phase;
  if (first.kind != Parting::kUnknownInputs ||
      (phase != "collective" && phase != "reduction")) {
    return first;
  }
  const auto when = [](const RankParting& parting) {
    return std::tuple(
        parting.identity.step, parting.identity.attempt,
        PlaceInStep(parting.identity.phase, parting.identity.operation));
  };
  for (const RankParting& parting : partings) {
    if (parting.kind == Parting::kReceiver && when(parting) < when(first)) {
      first = parting;
    }
  }
  return first;
}

}  // namespace lockstep
