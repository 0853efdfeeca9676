// What of a difference is no operation's: what was saved or loaded.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/ledger_events.h"
#include "tools/stored_run.h"

namespace lockstep {

// Lines say nothing of a step that was not done, nor all that is saved.
absl::Status Bisection::JudgeEqualLines() {
  if (evidence_.step == 0) NoteLostLedgers();
  if (evidence_.different_checkpoint != 0) {
    result_.step = evidence_.different_checkpoint;
    LS_ASSIGN_OR_RETURN(StateDifference apart,
                        SavedApart(fs_, options_.a, options_.b, result_.step));
    if (apart.any()) result_.state = std::move(apart);
    if (evidence_.GrewApart()) return GrewApart();
    result_.notes.push_back(
        "no line tells which of the two is wrong: `lockstep verify` of each "
        "run does its steps again, and says whether they come to what it "
        "saved");
    return Verdict("saved_state");
  }
  result_.step = evidence_.missing_step;
  if (result_.step == 0) return Verdict("equal");
  LS_RETURN_IF_ERROR(NoteWhyItEnded(options_.a, "a"));
  LS_RETURN_IF_ERROR(NoteWhyItEnded(options_.b, "b"));
  return Verdict("missing_steps");
}

// Nothing that the two did is to blame, nor what their settings do from there.
absl::Status Bisection::GrewApart() {
  result_.grew_apart = true;
  result_.fields.clear();
  for (BisectDifference& d : result_.differences) d.explains = false;
  for (const auto& [run, name] :
       {std::pair(options_.a, "a"), std::pair(options_.b, "b")}) {
    LS_ASSIGN_OR_RETURN(const Manifest manifest,
                        ManifestOfStep(fs_, run, evidence_.step));
    if (manifest.parent.run_id.empty()) continue;
    result_.notes.push_back(absl::StrCat(
        "run ", name, " grew from step ", manifest.parent.step, " of run ",
        manifest.parent.run_id, ", ", manifest.parent.checkpoint));
  }
  return Verdict("saved_state");
}

// Evidence that one of them no longer has, and the other has.
void Bisection::NoteLostLedgers() {
  Evidence events;
  const absl::Status taken = TakeEvents(fs_, options_.a, options_.b, events);
  if (!taken.ok()) {
    result_.notes.push_back("the ledgers are not compared: " +
                            FirstLine(taken));
  }
  for (const BisectDifference& d : events.differences) {
    if (d.key == "ledger") result_.differences.push_back(d);
  }
}

absl::Status Bisection::NoteWhyItEnded(const std::string& run,
                                       const char* name) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs_, run));
  if (ledger.entries.empty() || ledger.entries.back().event != "stop") {
    return absl::OkStatus();
  }
  const std::string error(ledger.entries.back().Field("error"));
  if (error.empty()) return absl::OkStatus();
  result_.notes.push_back(
      absl::StrCat("run ", name, " was stopped: ", FirstLine(error)));
  return absl::OkStatus();
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
  const auto again = TracedReplay(fs_, side);
  ++result_.replays;
  // What was saved may not even be loaded: then it is passed over.
  const bool refused =
      again.ok() ? again->began_at < before : absl::IsDataLoss(again.status());
  if (!again.ok() && !refused) return again.status();
  if (!refused && !again->recurs) return false;
  LS_ASSIGN_OR_RETURN(
      StateDifference difference,
      SavedDifference(fs_, side.run, before, of_a ? a_.state : b_.state));
  if (refused && !difference.any()) return false;
  if (difference.any()) result_.state = std::move(difference);
  result_.step = before;
  result_.fields.clear();
  result_.notes.push_back(absl::StrCat(
      "the lines of the runs differ from step ", evidence_.step, " on; run ",
      result_.odd_one,
      refused ? " does not come to its own, and cannot be loaded from what it "
                "saved after step "
              : " comes to its own from what it saved after step ",
      before, refused ? "" : ", and not from what that step comes to"));
  return true;
}

absl::Status Bisection::OutsideOfTraces() {
  result_.repeatable = true;
  result_.trace.reset();
  result_.notes.push_back(
      "both runs recur and no operation of their traces differs: what does "
      "lies outside of the operations that are traced");
  const StateDifference after =
      CompareStates(a_.after, b_.after, evidence_.across_layouts);
  if (after.any()) {
    result_.notes.push_back(absl::StrCat(
        "after the step ", after.entry, ", rank ", after.rank, ", differs",
        after.entries > 1
            ? absl::StrCat(" (and ", after.entries - 1, " other entries)")
            : ""));
  }
  return Verdict("not_reproduced");
}

}  // namespace lockstep
