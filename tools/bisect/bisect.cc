#include "tools/bisect/bisect.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/certainty.h"
#include "tools/bisect/commands.h"
#include "tools/bisect/likely_cause.h"

namespace lockstep {

absl::StatusOr<BisectResult> Bisection::Run() {
  LS_ASSIGN_OR_RETURN(evidence_, GatherEvidence(fs_, options_.a, options_.b));
  TakeRuns();
  result_.step = evidence_.step;
  result_.fields = evidence_.fields;
  result_.differences = evidence_.differences;
  result_.began_at = evidence_.equal_checkpoint;
  LS_RETURN_IF_ERROR(Judge());
  result_.cause = LikelyCause(result_);
  result_.certainty = CertaintyOf(result_);
  result_.commands = CommandsOf(result_);
  return std::move(result_);
}

void Bisection::TakeRuns() {
  result_.a = {.path = options_.a,
               .binary = options_.binary_a,
               .first_step = evidence_.first_a,
               .last_step = evidence_.last_a,
               .checkpoints = evidence_.checkpoints_a};
  result_.b = {.path = options_.b,
               .binary = options_.binary_b,
               .first_step = evidence_.first_b,
               .last_step = evidence_.last_b,
               .checkpoints = evidence_.checkpoints_b};
  result_.equal_checkpoints = evidence_.equal_checkpoints;
}

absl::Status Bisection::Judge() {
  if (evidence_.step == 0) return JudgeEqualLines();
  if (evidence_.Explained()) return Verdict("manifest");
  LS_RETURN_IF_ERROR(FindStep());
  LS_RETURN_IF_ERROR(ReplayBoth());
  LS_ASSIGN_OR_RETURN(const bool loaded, LoadedStateDiffers());
  if (loaded) return Verdict("state_after_load");
  if (SamplesDiffer()) return Verdict("data");
  if (!a_.recurs && !b_.recurs) return NeitherRecurs();
  if (a_.recurs != b_.recurs) return OneDoesNotRecur();
  return ComparePrograms();
}

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
  StateDifference difference = CompareStates(a_.state, b_.state);
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

absl::Status Bisection::NeitherRecurs() {
  LS_ASSIGN_OR_RETURN(const bool memory, MemoryExplains());
  if (memory) return Verdict("unwritten_memory");
  result_.notes.push_back(
      "neither run recurs here: replay each with the program that made it "
      "(--binary-a, --binary-b), on the machine that did");
  return Verdict("not_reproduced");
}

// What was recorded happened once. Its own trace, if there is one, shows it.
absl::Status Bisection::OneDoesNotRecur() {
  result_.odd_one = a_.recurs ? "b" : "a";
  result_.repeatable = false;
  if (!HasBinaries()) ++result_.replays;
  LS_ASSIGN_OR_RETURN(const bool memory, Poisoned(!a_.recurs));
  if (memory) return Verdict("unwritten_memory");
  const std::string& odd = a_.recurs ? options_.b : options_.a;
  const std::string sound = scratch_ / (a_.recurs ? "a" : "b");
  const TraceSteps only = {evidence_.FirstTraced(), evidence_.step};
  const auto traced = a_.recurs ? CompareTraces(fs_, sound, odd, only)
                                : CompareTraces(fs_, odd, sound, only);
  if (traced.ok() && !traced->equal()) {
    result_.trace = *traced;
    LS_ASSIGN_OR_RETURN(result_.tree,
                        a_.recurs
                            ? ReadScopeTree(fs_, sound, odd, *traced, only)
                            : ReadScopeTree(fs_, odd, sound, *traced, only));
  } else {
    result_.notes.push_back(
        "the step's own trace is not on record, so the operation is not "
        "known; with `trace.level` a run leaves one");
  }
  const bool came_in = result_.trace.has_value() &&
                       result_.trace->first.kind == Parting::kReceiver;
  const bool loaded =
      a_.recurs ? evidence_.after_load_b : evidence_.after_load_a;
  return Verdict(came_in && loaded ? "state_after_load" : "operation");
}

absl::Status Bisection::CompareReplays() {
  LS_ASSIGN_OR_RETURN(result_.trace,
                      CompareTraces(fs_, scratch_ / "a", scratch_ / "b"));
  const int64_t parted = result_.trace->first.identity.step;
  if (!result_.trace->equal() && parted < evidence_.step) {
    result_.step = parted;
    result_.notes.push_back(absl::StrCat(
        "the lines of the runs differ from step ", evidence_.step,
        " on: what parts in step ", parted, " is not in that step's line"));
  }
  LS_ASSIGN_OR_RETURN(
      result_.tree,
      ReadScopeTree(fs_, scratch_ / "a", scratch_ / "b", *result_.trace));
  return absl::OkStatus();
}

bool Bisection::BeganOtherwise() const {
  const std::string& phase = result_.trace->first.identity.phase;
  return !result_.trace->equal() &&
         (phase == NameOf(Phase::kLoad) || phase == NameOf(Phase::kConversion));
}

absl::Status Bisection::ComparePrograms() {
  LS_RETURN_IF_ERROR(CompareReplays());
  // The step began with other numbers, though the checkpoint has equal ones.
  if (BeganOtherwise()) {
    result_.repeatable = true;
    StateDifference difference = CompareStates(a_.state, b_.state);
    if (difference.any()) result_.state = std::move(difference);
    return Verdict("state_after_load");
  }
  switch (result_.trace->first.kind) {
    case Parting::kNone:
      result_.notes.push_back(
          "both runs recur and their traces are equal: what differs lies "
          "outside of the operations that are traced");
      return Verdict("not_reproduced");
    case Parting::kReceiver:
      return Verdict(evidence_.after_load_a != evidence_.after_load_b
                         ? "state_after_load"
                         : "received");
    case Parting::kControlFlow:
      return Unless(MemoryExplains(), "control_flow");
    case Parting::kBetween:
      return Unless(MemoryExplains(), "changed_between");
    default:
      return Unless(CompareBytes(), "operation");
  }
}

// Both runs recur, so it comes back, unless it is memory's.
absl::Status Bisection::Unless(absl::StatusOr<bool> memory,
                               const std::string& verdict) {
  LS_RETURN_IF_ERROR(memory.status());
  if (*memory) return Verdict("unwritten_memory");
  result_.repeatable = result_.sound_memory.value_or(true);
  return Verdict(verdict);
}

absl::StatusOr<BisectResult> Bisect(FileSystem& fs,
                                    const BisectOptions& options) {
  LS_ASSIGN_OR_RETURN(Scratch scratch, Scratch::Make(options.scratch));
  return Bisection(fs, options, std::move(scratch)).Run();
}

}  // namespace lockstep
