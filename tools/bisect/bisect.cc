#include "tools/bisect/bisect.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/first_line.h"
#include "determinism/operation.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/certainty.h"
#include "tools/bisect/commands.h"
#include "tools/bisect/likely_cause.h"

namespace lockstep {

namespace {

// The step's line, which is behind all operations, is none of them.
bool AnOperationParts(const TraceDifference& traces) {
  return !traces.equal() && traces.first.identity.operation != kStepOperation;
}

}  // namespace

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
  if (evidence_.step == 0 || evidence_.GrewApart()) return JudgeEqualLines();
  NoteStops();
  if (evidence_.Explained() && !PutOnTrial() && !BothStopped()) {
    return Verdict("manifest");
  }
  LS_RETURN_IF_ERROR(FindStep());
  // What they saved differs, and no step that is done again.
  if (evidence_.fields.empty()) return JudgeEqualLines();
  LS_RETURN_IF_ERROR(ReplayBoth());
  if (settings_explain_) return Verdict("manifest");
  LS_ASSIGN_OR_RETURN(const bool loaded, LoadedStateDiffers());
  if (loaded) return Verdict("state_after_load");
  if (SamplesDiffer()) return Verdict("data");
  if (!a_.recurs && !b_.recurs) return NeitherRecurs();
  if (a_.recurs != b_.recurs) return OneDoesNotRecur();
  return ComparePrograms();
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
  LS_ASSIGN_OR_RETURN(const bool saved, WentOnFromWhatItSaved(!a_.recurs));
  if (saved) return Verdict("saved_state");
  const size_t notes = result_.notes.size();
  LS_RETURN_IF_ERROR(ReadOwnTrace(!a_.recurs));
  if (!result_.trace) {
    LS_ASSIGN_OR_RETURN(const bool both, RecursFromEarlier(notes));
    if (both) return ComparePrograms();
  }
  LS_ASSIGN_OR_RETURN(const bool memory, KeepOddOne(!a_.recurs));
  if (memory) return Verdict("unwritten_memory");
  const bool came_in = result_.trace.has_value() &&
                       result_.trace->first.kind == Parting::kReceiver;
  const bool loaded =
      a_.recurs ? evidence_.after_load_b : evidence_.after_load_a;
  if (!came_in) return Verdict("operation");
  return Verdict(loaded ? "state_after_load" : "received");
}

// Of the run that does not recur, against the replay of the other.
absl::Status Bisection::ReadOwnTrace(bool of_a) {
  const std::string a = of_a ? options_.a : Side(true).traces;
  const std::string b = of_a ? Side(false).traces : options_.b;
  const TraceSteps only = {evidence_.FirstTraced(), evidence_.step};
  auto traced = CompareTraces(fs_, a, b, only);
  if (traced.ok() && AnOperationParts(*traced)) {
    LS_ASSIGN_OR_RETURN(result_.tree, ReadScopeTree(fs_, a, b, *traced, only));
    result_.trace = *std::move(traced);
    return absl::OkStatus();
  }
  result_.notes.push_back(
      traced.ok()
          ? "no operation of the step's own trace differs: it happened outside "
            "of what is traced"
          : "the step's own trace is not on record, so the operation is not "
            "known; with `trace.level` a run leaves one");
  if (!traced.ok() && fs_.Exists(JoinPath(of_a ? a : b, "traces"))) {
    result_.notes.push_back("of the run's own traces: " +
                            FirstLine(traced.status()));
  }
  return absl::OkStatus();
}

absl::Status Bisection::CompareReplays() {
  const std::string a = Side(true).traces, b = Side(false).traces;
  LS_ASSIGN_OR_RETURN(result_.trace, CompareTraces(fs_, a, b));
  const int64_t parted = result_.trace->first.identity.step;
  if (!result_.trace->equal() && parted < evidence_.step) {
    result_.step = parted;
    result_.notes.push_back(absl::StrCat(
        "the lines of the runs differ from step ", evidence_.step,
        " on: what parts in step ", parted, " is not in that step's line"));
  }
  LS_ASSIGN_OR_RETURN(result_.tree, ReadScopeTree(fs_, a, b, *result_.trace));
  return absl::OkStatus();
}

bool Bisection::BeganOtherwise() const {
  const std::string& phase = result_.trace->first.identity.phase;
  return !result_.trace->equal() &&
         (phase == NameOf(Phase::kLoad) || phase == NameOf(Phase::kConversion));
}

absl::Status Bisection::ComparePrograms() {
  LS_RETURN_IF_ERROR(CompareReplays());
  if (BothStopped() && result_.trace->equal()) return EqualStops();
  if (evidence_.Explained()) return Verdict("manifest");
  // The step began with other numbers, though the checkpoint has equal ones.
  if (BeganOtherwise()) {
    result_.repeatable = true;
    StateDifference difference =
        CompareStates(a_.state, b_.state, evidence_.across_layouts);
    if (difference.any()) result_.state = std::move(difference);
    return Verdict("state_after_load");
  }
  if (!AnOperationParts(*result_.trace)) return OutsideOfTraces();
  switch (result_.trace->first.kind) {
    case Parting::kReceiver:
      result_.repeatable = true;
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
