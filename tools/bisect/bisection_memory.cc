// What a bisection rules out before it names a culprit: memory that nobody
// wrote, and messages that were not there yet.
#include <utility>

#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/poisoned_replay.h"

namespace lockstep {

absl::StatusOr<bool> Bisection::Poisoned(bool of_a) {
  const SideOptions side = Side(of_a);
  if (!side.binary.empty()) return false;
  LS_ASSIGN_OR_RETURN(const bool recurs, ReplayPoisoned(fs_, side));
  return DependsOnMemory(of_a, recurs);
}

// The run's own two replays part where it depends on what it should not.
absl::StatusOr<bool> Bisection::DependsOnMemory(bool of_a, bool recurs) {
  const bool recurred = of_a ? a_.recurs : b_.recurs;
  if (recurs && recurred) {
    if (!result_.sound_memory) result_.sound_memory = true;
    return false;
  }
  const SideOptions side = Side(of_a);
  LS_ASSIGN_OR_RETURN(TraceDifference parting,
                      CompareTraces(fs_, side.traces, PoisonedTraces(side)));
  result_.sound_memory =
      recurs == recurred && parting.equal() && result_.sound_memory != false;
  if (parting.equal()) return false;
  if (!result_.trace ||
      parting.first.identity != result_.trace->first.identity) {
    if (result_.trace) {
      result_.notes.push_back("the two runs' replays part at " +
                              ToString(result_.trace->first.identity) +
                              ", which may be where that shows");
    }
    result_.saved_operation.reset();
    result_.elements.reset();
    result_.map.reset();
  }
  LS_ASSIGN_OR_RETURN(
      result_.tree,
      ReadScopeTree(fs_, side.traces, PoisonedTraces(side), parting));
  result_.trace = std::move(parting);
  result_.odd_one = of_a ? "a" : "b";
  result_.repeatable = false;
  result_.notes.push_back(
      "the place is where two replays of run " + result_.odd_one +
      " part, the second in memory with another pattern: a is the first, b the "
      "second");
  return true;
}

// Of programs that part at an operation that is not done alone again.
absl::StatusOr<bool> Bisection::MemoryExplains() {
  if (HasBinaries()) return false;
  ++result_.replays;
  LS_ASSIGN_OR_RETURN(const bool of_a, Poisoned(true));
  if (of_a) return true;
  return Poisoned(false);
}

}  // namespace lockstep
