// What a bisection does again.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/step_search.h"

namespace lockstep {

// A run that was loaded just before the step is loaded again; any other begins
// where both are known to be equal.
SideOptions Bisection::Side(bool of_a) const {
  const bool loaded = of_a ? evidence_.after_load_a : evidence_.after_load_b;
  const bool earlier = earlier_ >= 0 && of_a == earlier_is_a_;
  const int64_t from = loaded    ? evidence_.step - 1
                       : earlier ? earlier_
                                 : evidence_.Start();
  const bool itself = !of_a && b_as_it_was_;
  std::vector<std::string> sets;
  // What moves no bit stays as run a has it while settings that may are tried.
  if (!of_a && (!itself || !trial_.empty())) sets = evidence_.as_a;
  if (of_a && a_as_b_) sets = evidence_.as_b;
  if (!of_a && !itself) sets.insert(sets.end(), trial_.begin(), trial_.end());
  if (!evidence_.fingerprinted) sets.push_back("metrics.fingerprints=true");
  return {.run = of_a ? options_.a : options_.b,
          .binary = of_a ? options_.binary_a : options_.binary_b,
          .traces = scratch_ / absl::StrCat(of_a ? "a" : "b",
                                            itself            ? "_itself"
                                            : of_a && a_as_b_ ? "_as_b"
                                                              : "",
                                            earlier ? "_earlier" : ""),
          .step = evidence_.step,
          .traced_from = evidence_.FirstTraced(),
          .checkpoint_at_most = from,
          .from_seed = from == 0,
          .threads = options_.threads,
          .sets = std::move(sets)};
}

// As run a was, where that is no other run. Below `layout_invariant` sums over
// ranks can follow micro-batches; and what happened once recurs in neither way.
absl::Status Bisection::ReplayB() {
  auto as_a = TracedReplay(fs_, Side(false));
  if (!trial_.empty()) {
    if (!as_a.ok() || !as_a->recurs) return JudgeSettings(as_a);
    AcquitSettings();
  }
  if (evidence_.as_a.empty() || (as_a.ok() && as_a->recurs)) {
    LS_ASSIGN_OR_RETURN(b_, std::move(as_a));
    if (evidence_.as_a.empty()) return absl::OkStatus();
    result_.notes.push_back(absl::StrCat(
        "run b was done again with ", absl::StrJoin(evidence_.as_a, ", "),
        ", as run a has it, which moves no bit: so both do the same "
        "operations"));
    return absl::OkStatus();
  }
  b_as_it_was_ = true;
  LS_ASSIGN_OR_RETURN(b_, TracedReplay(fs_, Side(false)));
  LS_ASSIGN_OR_RETURN(const bool alike, ReplayAAsB());
  if (alike) return absl::OkStatus();
  result_.notes.push_back(absl::StrCat(
      "run b does not come to its own bits with ",
      absl::StrJoin(evidence_.as_a, ", "),
      " of run a; with other settings the two do other operations, and the "
      "first that parts may be one of those"));
  return absl::OkStatus();
}

// What is bound to a micro-batch of run b is not met with run a's: then run a
// is done with run b's, where that is no other run.
absl::StatusOr<bool> Bisection::ReplayAAsB() {
  a_as_b_ = true;
  auto as_b = TracedReplay(fs_, Side(true));
  ++result_.replays;
  if (!as_b.ok() || !as_b->recurs) {
    a_as_b_ = false;
    return false;
  }
  a_ = *std::move(as_b);
  result_.notes.push_back(absl::StrCat(
      "run a was done again with ", absl::StrJoin(evidence_.as_b, ", "),
      ", as run b has it, which moves no bit: so both do the same operations"));
  return true;
}

// Without fingerprints on record the step that shows a difference need not be
// the one that made it.
absl::Status Bisection::FindStep() {
  if (evidence_.fingerprinted) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const FoundStep found,
                      SearchStep(fs_, Side(true), Side(false)));
  ++result_.replays;
  if (found.step == 0) return absl::OkStatus();
  const std::string what = evidence_.fields.empty()
                               ? "no line differs, what they saved after step "
                               : "their lines differ from step ";
  result_.notes.push_back(absl::StrCat(
      "the runs took no fingerprints; ", what, evidence_.step,
      evidence_.fields.empty() ? " does" : " on",
      ", and replays with fingerprints from step ", found.step, " on"));
  result_.step = evidence_.step = found.step;
  result_.fields = evidence_.fields = found.fields;
  return absl::OkStatus();
}

absl::Status Bisection::ReplayBoth() {
  LS_ASSIGN_OR_RETURN(a_, TracedReplay(fs_, Side(true)));
  LS_RETURN_IF_ERROR(ReplayB());
  ++result_.replays;
  result_.began_at = evidence_.Start();
  // A list that one launch was given is no entry that a load changed.
  if (evidence_.other_skips) {
    for (ReplayedSide* side : {&a_, &b_}) {
      for (auto& [rank, state] : side->state) {
        std::erase_if(state, [](const TensorFingerprint& entry) {
          return entry.name.starts_with("skip_list/");
        });
      }
    }
  }
  for (const ReplayedSide* side : {&a_, &b_}) {
    for (const std::string& note : side->notes) {
      auto& notes = result_.notes;
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
        notes.push_back(note);
      }
    }
  }
  return absl::OkStatus();
}

// What the steps before left in memory is gone where a replay begins: a run
// that reads it comes to its own bits only from further back. Then what was
// noted behind the first `notes` does not hold any more.
absl::StatusOr<bool> Bisection::RecursFromEarlier(size_t notes) {
  const bool of_a = !a_.recurs;
  const int64_t start = Side(of_a).checkpoint_at_most;
  if (start == 0 || (of_a ? evidence_.after_load_a : evidence_.after_load_b)) {
    return false;
  }
  int64_t before = 0;
  for (const int64_t checkpoint : evidence_.equal_checkpoints) {
    if (checkpoint < start) before = checkpoint;
  }
  earlier_ = before;
  earlier_is_a_ = of_a;
  LS_ASSIGN_OR_RETURN(ReplayedSide again, TracedReplay(fs_, Side(of_a)));
  ++result_.replays;
  if (!again.recurs) {
    earlier_ = -1;
    return false;
  }
  (of_a ? a_ : b_) = std::move(again);
  result_.odd_one.clear();
  result_.repeatable.reset();
  result_.from_further_back = true;
  result_.notes.resize(notes);
  result_.notes.push_back(absl::StrCat(
      "run ", of_a ? "a" : "b", " does not recur from the checkpoint of step ",
      start, ", and does from ",
      before == 0 ? std::string("the seed")
                  : absl::StrCat("that of step ", before),
      ": the step reads what a step before it left in memory"));
  return true;
}

}  // namespace lockstep
