// Whether settings that differ are what parts the runs: run b done again with
// those of run a.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/first_line.h"
#include "determinism/status.h"
#include "tools/bisect/bisection.h"
#include "tools/bisect/settings_trial.h"

namespace lockstep {

// False: what explains is beyond trial.
bool Bisection::PutOnTrial() {
  const auto acquitted = AcquitByFields(evidence_);
  if (!acquitted.empty()) {
    result_.notes.push_back(absl::StrCat(
        absl::StrJoin(acquitted, ", "),
        " can act through the learning rate, or through what is read, and "
        "these "
        "are the same up to this step: it is not what parts them here"));
  }
  const auto trial = TrialOf(evidence_);
  if (trial) trial_ = *trial;
  result_.differences = evidence_.differences;
  return trial.has_value();
}

void Bisection::AcquitSettings() {
  for (auto* differences : {&evidence_.differences, &result_.differences}) {
    for (BisectDifference& d : *differences) d.explains = false;
  }
  result_.notes.push_back(absl::StrCat(
      "run b comes to the same bits with ", absl::StrJoin(trial_, ", "),
      " of run a: that is not what parts them here"));
}

// Run b, which with settings of run a did not come to what it has on record:
// because of these, or it does not as it was either.
absl::Status Bisection::JudgeSettings(
    const absl::StatusOr<ReplayedSide>& as_a) {
  const std::string settings = absl::StrJoin(trial_, ", ");
  const std::string as_a_traces = Side(false).traces;
  settings_explain_ = true;
  b_as_it_was_ = true;
  if (!as_a.ok()) {
    result_.notes.push_back(
        absl::StrCat("run b cannot be done with ", settings,
                     " of run a: ", FirstLine(as_a.status())));
    return absl::OkStatus();
  }
  LS_ASSIGN_OR_RETURN(b_, TracedReplay(fs_, Side(false)));
  if (!b_.recurs) {
    LS_ASSIGN_OR_RETURN(const TraceDifference own,
                        CompareTraces(fs_, Side(false).traces, as_a_traces));
    if (own.equal()) {
      AcquitSettings();
      settings_explain_ = false;
      return absl::OkStatus();
    }
  }
  result_.repeatable = b_.recurs;
  LS_ASSIGN_OR_RETURN(const TraceDifference left,
                      CompareTraces(fs_, Side(true).traces, as_a_traces));
  result_.notes.push_back(
      left.equal()
          ? absl::StrCat("with ", settings,
                         " of run a, run b does what run a does, operation by "
                         "operation")
          : absl::StrCat(
                "with ", settings, " of run a, run b still parts from it, at ",
                ToString(left.first.identity), ": something else differs too"));
  return absl::OkStatus();
}

}  // namespace lockstep
