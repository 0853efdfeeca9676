// What of a difference is no operation's: what was saved or loaded.
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"

namespace lockstep {

// Lines say nothing of a step that was not done, nor all that is saved.
absl::Status Bisection::JudgeEqualLines() {
  if (evidence_.different_checkpoint != 0) {
    result_.step = evidence_.different_checkpoint;
    return Verdict("saved_state");
  }
  result_.step = evidence_.missing_step;
  return Verdict(result_.step == 0 ? "equal" : "missing_steps");
}

// All before was equal, so it is a load that made it.
absl::StatusOr<bool> Bisection::LoadedStateDiffers() {
  if (evidence_.after_load_a == evidence_.after_load_b) return false;
  StateDifference difference =
      CompareStates(a_.state, b_.state, evidence_.across_layouts);
  if (!difference.any()) return false;
  const bool of_a = evidence_.after_load_a;
  LS_RETURN_IF_ERROR(TraceToCheckpoint(fs_, of_a ? options_.a : options_.b,
                                       evidence_.step - 1,
                                       of_a ? b_.state : a_.state, difference));
  result_.odd_one = of_a ? "a" : "b";
  result_.repeatable = a_.recurs && b_.recurs;
  result_.state = std::move(difference);
  LS_RETURN_IF_ERROR(CompareReplays());
  // What the step began with is announced, but for counters and the like.
  if (!BeganOtherwise()) result_.trace.reset();
  return true;
}

// What the run saved before the step is not what its steps come to, and the
// step from there is the one on record.
absl::StatusOr<bool> Bisection::WentOnFromWhatItSaved(bool of_a) {
  const int64_t before = evidence_.step - 1;
  if (evidence_.different_checkpoint != before || before == 0) return false;
  SideOptions side = Side(of_a);
  if (side.checkpoint_at_most == before) return false;
  side.checkpoint_at_most = before;
  side.from_seed = false;
  side.traced_from = evidence_.step;
  side.traces += "_saved";
  LS_ASSIGN_OR_RETURN(const ReplayedSide again, TracedReplay(fs_, side));
  ++result_.replays;
  if (!again.recurs || again.began_at != before) return false;
  if (evidence_.FirstTraced() == evidence_.step) {
    LS_ASSIGN_OR_RETURN(
        StateDifference difference,
        SavedDifference(fs_, side.run, before, of_a ? a_.state : b_.state));
    if (difference.any()) result_.state = std::move(difference);
  }
  result_.step = before;
  result_.fields.clear();
  result_.notes.push_back(
      absl::StrCat("the lines of the runs differ from step ", evidence_.step,
                   " on; run ", result_.odd_one,
                   " comes to its own from what it saved "
                   "after step ",
                   before, ", and not from what that step comes to"));
  return true;
}

}  // namespace lockstep
