// Steps that stopped a run by their numbers: they have no line, and are done
// again like any other.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/bisect/bisection.h"

namespace lockstep {

void Bisection::NoteStops() {
  const auto note = [this](const RecordedStop& stop, const char* run) {
    result_.notes.push_back(
        absl::StrCat("run ", run, " was stopped: ",
                     absl::StrReplaceAll(stop.why, {{"\n  where: ", ", "}})));
  };
  if (evidence_.stopped_a()) note(evidence_.stop_a, "a");
  if (evidence_.stopped_b()) note(evidence_.stop_b, "b");
}

// No bits of the step are on record: the replays' are held against each other.
absl::Status Bisection::EqualStops() {
  result_.notes.push_back(
      absl::StrCat("the same step stopped both runs, and their replays of it "
                   "differ in no operation of step ",
                   evidence_.step));
  result_.trace.reset();
  result_.fields.clear();
  result_.repeatable = true;
  result_.step = 0;
  return Verdict("equal");
}

}  // namespace lockstep
