// What a bisection does again.
#include <algorithm>

#include "determinism/status.h"
#include "tools/bisect/bisection.h"

namespace lockstep {

SideOptions Bisection::Side(bool of_a) const {
  return {.run = of_a ? options_.a : options_.b,
          .binary = of_a ? options_.binary_a : options_.binary_b,
          .traces = scratch_ / (of_a ? "a" : "b"),
          .step = evidence_.step,
          .checkpoint_at_most = evidence_.equal_checkpoint,
          .from_seed = evidence_.equal_checkpoint == 0,
          .threads = options_.threads};
}

absl::Status Bisection::ReplayBoth() {
  LS_ASSIGN_OR_RETURN(a_, TracedReplay(fs_, Side(true)));
  LS_ASSIGN_OR_RETURN(b_, TracedReplay(fs_, Side(false)));
  result_.replays = 1;
  for (const ReplayedSide* side : {&a_, &b_}) {
    result_.notes.insert(result_.notes.end(), side->notes.begin(),
                         side->notes.end());
  }
  return absl::OkStatus();
}

// Once more, for the bytes; by this program alone, and rank by rank.
absl::Status Bisection::CompareBytes() {
  const TraceDifference& trace = *result_.trace;
  if (!options_.binary_a.empty() || !options_.binary_b.empty() ||
      trace.across_layouts) {
    return absl::OkStatus();
  }
  const RankParting& first = trace.first;
  LS_ASSIGN_OR_RETURN(
      const auto one,
      KeepOperation(fs_, Side(true), first.identity, first.rank));
  LS_ASSIGN_OR_RETURN(
      const auto other,
      KeepOperation(fs_, Side(false), first.identity, first.rank));
  ++result_.replays;
  for (size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (one[i].name != first.tensor || one[i].shape != other[i].shape ||
        one[i].dtype != other[i].dtype) {
      continue;
    }
    result_.elements = CompareElements(one[i], other[i]);
    result_.map = MapDifference(one[i], other[i]);
    break;
  }
  return absl::OkStatus();
}

}  // namespace lockstep
