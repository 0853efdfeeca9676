// What a bisection does again.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/kept_operation.h"
#include "tools/bisect/step_search.h"

namespace lockstep {

// A run that was loaded just before the step is loaded again; any other begins
// where both are known to be equal.
SideOptions Bisection::Side(bool of_a) const {
  const bool loaded = of_a ? evidence_.after_load_a : evidence_.after_load_b;
  const int64_t from = loaded ? evidence_.step - 1 : evidence_.equal_checkpoint;
  return {.run = of_a ? options_.a : options_.b,
          .binary = of_a ? options_.binary_a : options_.binary_b,
          .traces = scratch_ / (of_a ? "a" : "b"),
          .step = evidence_.step,
          .checkpoint_at_most = from,
          .from_seed = from == 0,
          .threads = options_.threads};
}

// Without fingerprints on record the step that shows a difference need not be
// the one that made it.
absl::Status Bisection::FindStep() {
  if (evidence_.fingerprinted || HasBinaries()) return absl::OkStatus();
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

// Once more, for the bytes; by this program alone, and rank by rank.
absl::Status Bisection::CompareBytes() {
  const TraceDifference& trace = *result_.trace;
  if (HasBinaries() || trace.across_layouts) return absl::OkStatus();
  const RankParting& first = trace.first;
  LS_ASSIGN_OR_RETURN(
      KeptOperation one,
      KeepOperation(fs_, Side(true), first.identity, first.rank));
  LS_ASSIGN_OR_RETURN(
      KeptOperation other,
      KeepOperation(fs_, Side(false), first.identity, first.rank));
  ++result_.replays;
  result_.sound_memory = one.recurs && other.recurs;
  if (!*result_.sound_memory) result_.repeatable = false;
  SavedOperation saved = std::move(one.saved);
  saved.outputs_b = std::move(other.saved.outputs_a);
  saved.tensor = first.tensor;
  saved.run_a = options_.a;
  saved.run_b = options_.b;
  CompareTensor(saved);
  result_.saved_operation = std::move(saved);
  return absl::OkStatus();
}

void Bisection::CompareTensor(const SavedOperation& saved) {
  const KeptTensor* a = FindKept(saved.outputs_a, saved.tensor);
  const KeptTensor* b = FindKept(saved.outputs_b, saved.tensor);
  if (a == nullptr || b == nullptr || a->shape != b->shape ||
      a->dtype != b->dtype) {
    return;
  }
  result_.elements = CompareElements(*a, *b);
  result_.map = MapDifference(*a, *b);
}

}  // namespace lockstep
