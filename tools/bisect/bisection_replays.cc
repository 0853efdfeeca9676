// What a bisection does again.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/step_search.h"

namespace lockstep {

// A run that was loaded just before the step is loaded again; any other begins
// where both are known to be equal.
SideOptions Bisection::Side(bool of_a) const {
  const bool loaded = of_a ? evidence_.after_load_a : evidence_.after_load_b;
  const int64_t from = loaded ? evidence_.step - 1 : evidence_.Start();
  return {.run = of_a ? options_.a : options_.b,
          .binary = of_a ? options_.binary_a : options_.binary_b,
          .traces = scratch_ / (of_a ? "a" : "b"),
          .step = evidence_.step,
          .traced_from = evidence_.FirstTraced(),
          .checkpoint_at_most = from,
          .from_seed = from == 0,
          .threads = options_.threads};
}

// Without fingerprints on record the step that shows a difference need not be
// the one that made it.
absl::Status Bisection::FindStep() {
  if (evidence_.fingerprinted) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const FoundStep found,
                      SearchStep(fs_, Side(true), Side(false)));
  ++result_.replays;
  if (found.step == 0) return absl::OkStatus();
  result_.notes.push_back(absl::StrCat(
      "the runs took no fingerprints; their lines differ from step ",
      evidence_.step, " on, and replays with fingerprints from step ",
      found.step, " on"));
  result_.step = evidence_.step = found.step;
  result_.fields = evidence_.fields = found.fields;
  return absl::OkStatus();
}

absl::Status Bisection::ReplayBoth() {
  LS_ASSIGN_OR_RETURN(a_, TracedReplay(fs_, Side(true)));
  LS_ASSIGN_OR_RETURN(b_, TracedReplay(fs_, Side(false)));
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

}  // namespace lockstep
