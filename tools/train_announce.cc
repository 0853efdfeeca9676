#include "tools/train_announce.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "tools/step_memory.h"

namespace lockstep {
namespace {

// Of all sources: what one epoch of each has.
int64_t TrainSamples(const Dataset& dataset) {
  int64_t samples = 0;
  for (int64_t i = 0; i < dataset.source_count(); ++i) {
    samples += dataset.source(i).train_samples();
  }
  return samples;
}

}  // namespace

absl::Status AnnounceLaunch(const ResolvedRun& run, const Machine& machine,
                            const Stepper& stepper, const LaunchNotes& notes,
                            Progress& progress) {
  const RunConfig& c = run.config;
  for (const std::string& fault : notes.faults) {
    progress.Warn(absl::StrCat("FAULT ON PURPOSE: ", fault));
  }
  progress.Say(absl::StrFormat(
      "%s: %s, %s, %d parameters, %d steps of %d x %d tokens, %s%s%d threads "
      "(%s), in %s",
      run.recipe.name(), NameOf(c.guarantee), c.precision.mode,
      stepper.parameter_count(), c.Steps(), c.batch.global, c.data.sequence,
      notes.layout, notes.layout.empty() ? "" : ", ", machine.threads,
      NameOf(machine.isa), run.run_dir));
  for (const std::string& notice : notes.notices) progress.Say(notice);
  for (const std::string& note : notes.skips) progress.Warn(note);
  const std::string oversized =
      OversizedBatch(c, TrainSamples(stepper.dataset()));
  if (!oversized.empty()) progress.Warn(oversized);
  if (stepper.dataset().source_count() > 1) {
    LS_ASSIGN_OR_RETURN(const std::string draws, stepper.DescribeDraws());
    progress.Say("data: " + draws);
  }
  return absl::OkStatus();
}

}  // namespace lockstep
