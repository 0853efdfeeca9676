#include "tools/replay_source.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/ledger.h"
#include "ckpt/verify.h"
#include "determinism/check.h"
#include "determinism/fault.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "tools/bazel/build_stamp.h"
#include "tools/launches.h"
#include "tools/replay_faults.h"
#include "tools/restore.h"
#include "tools/run_faults.h"
#include "tools/skip_adoption.h"
#include "tools/stored_run.h"
#include "tools/trained_model.h"

namespace lockstep {

struct ReplaySource::Planted {
  std::vector<FaultSpec> specs;
};

ReplaySource::ReplaySource(FileSystem& fs, std::string run_dir)
    : fs_(fs), run_dir_(std::move(run_dir)) {}

ReplaySource::~ReplaySource() = default;

absl::StatusOr<std::unique_ptr<ReplaySource>> ReplaySource::Open(
    FileSystem& fs, const std::string& run_dir, const ReplayOptions& options) {
  std::unique_ptr<ReplaySource> source(new ReplaySource(fs, run_dir));
  LS_RETURN_IF_ERROR(source->OpenAll(options));
  LS_RETURN_IF_ERROR(source->FindStart());
  LS_RETURN_IF_ERROR(source->CheckSets(options));
  return source;
}

// The step after the last is one that the run was about to do.
absl::Status ReplaySource::CheckStep(int64_t step) const {
  int64_t last = recorded_.last();
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs_, run_dir_));
  if (!checkpoints.empty()) last = std::max(last, checkpoints.back().step);
  if (step >= first_step() && step <= last + 1) return absl::OkStatus();
  return InputError(
      absl::StrCat("the run has no step ", step), run_dir_,
      absl::StrCat("name a step from ", first_step(), " to ", last));
}

absl::Status ReplaySource::OpenAll(const ReplayOptions& options) {
  LS_ASSIGN_OR_RETURN(manifest_, ManifestOfStep(fs_, run_dir_, options.before));
  LS_ASSIGN_OR_RETURN(recorded_, RecordedSteps::Read(fs_, run_dir_));
  LS_ASSIGN_OR_RETURN(stop_, ReadRecordedStop(fs_, run_dir_));
  LS_RETURN_IF_ERROR(CheckStep(options.before));
  LS_ASSIGN_OR_RETURN(config_,
                      StoredConfig(fs_, run_dir_, manifest_, options.sets));
  LS_ASSIGN_OR_RETURN(dataset_,
                      OpenStoredData(fs_, run_dir_, manifest_, config_));
  if (manifest_.code.commit != BuildCommit()) {
    notes_.push_back(absl::StrCat("the run was made by commit ",
                                  manifest_.code.commit, ", this program by ",
                                  BuildCommit()));
  }
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs_, run_dir_));
  LS_ASSIGN_OR_RETURN(skips_, RecordedSkips(ledger.entries));
  planted_ = std::make_unique<Planted>();
  LS_ASSIGN_OR_RETURN(planted_->specs, KeptFaults(fs_, run_dir_));
  notes_of_the_run_ = notes_.size();
  before_ = options.before;
  const int64_t asked = options.checkpoint_at_most < 0
                            ? options.before - 1
                            : options.checkpoint_at_most;
  request_.mode = options.from_seed ? ResumeMode::kNever : ResumeMode::kAuto;
  request_.at_most_step = std::min(asked, options.before - 1);
  return absl::OkStatus();
}

// A load would refuse tensor by tensor, and blame the checkpoint.
absl::Status ReplaySource::CheckSets(const ReplayOptions& options) const {
  if (found_.fresh || options.sets.empty()) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(
      const std::vector<std::string> changed,
      OtherModelBySets(manifest_, run_dir_ + "/manifest.json", options.sets));
  if (changed.empty()) return absl::OkStatus();
  return InputError(
      "the state of the run's checkpoints has no place in "
      "another model: " +
          absl::StrJoin(changed, "; "),
      run_dir_,
      "leave that as it is, or begin from the seed with "
      "--from-seed");
}

absl::Status ReplaySource::FindStart() {
  notes_.resize(notes_of_the_run_);
  LS_ASSIGN_OR_RETURN(
      found_, FindCheckpoint(fs_, run_dir_, request_, manifest_.run_id));
  if (!found_.fresh) {
    notes_.insert(notes_.end(), found_.notes.begin(), found_.notes.end());
  }
  if (found_.fresh && first_step() > 1) {
    return NoUsableCheckpoint(
        absl::StrCat("the run grew from step ", manifest_.parent.step,
                     " of run ", manifest_.parent.run_id,
                     ", and the checkpoint of that is gone"),
        run_dir_, "name a step after its oldest checkpoint");
  }
  return NoteOtherRecipe(before_);
}

absl::Status ReplaySource::PassOver(const absl::Status& load) {
  LS_CHECK(!found_.fresh) << load;
  request_.unfit[found_.dir] = WhyUnfit(load);
  return FindStart();
}

absl::Status ReplaySource::NoteOtherRecipe(int64_t step) {
  LS_ASSIGN_OR_RETURN(const auto launch, LaunchOfStep(fs_, run_dir_, step));
  const int64_t since = launch ? launch->since : 0;
  if (began_at() >= std::min(since, step - 1)) return absl::OkStatus();
  notes_.push_back(absl::StrCat(
      "the recipe changed after step ", since,
      " and no checkpoint of then is left: steps ", began_at() + 1, " to ",
      since, " are done again with the recipe of step ", step));
  return absl::OkStatus();
}

absl::Status ReplaySource::Restore(Stepper& stepper,
                                   const std::vector<SkipRange>& skips) const {
  if (found_.fresh) {
    const ScopedFloatEnv float_env;
    LS_RETURN_IF_ERROR(stepper.Initialise());
  } else {
    LS_RETURN_IF_ERROR(
        RestoreStepper(fs_, stepper, found_.dir, stepper.layout().world)
            .status());
  }
  // What the run passed over, where it began to.
  std::vector<SkipRange> all = skips_;
  for (SkipRange range : skips) {
    range.adopted_at = stepper.state().cursor;
    all.push_back(range);
  }
  return stepper.PlanSkips(std::move(all));
}

ReplayedStep ReplaySource::Compare(StepReport report) const {
  ReplayedStep step;
  step.recorded = recorded_.Has(report.step);
  if (step.recorded) step.differences = recorded_.Differences(report);
  if (!step.recorded && report.step == stop_.step) {
    step.recorded = true;
    step.differences = {"stop"};
  }
  step.report = std::move(report);
  return step;
}

ReplayedStep ReplaySource::CompareStop(int64_t step,
                                       const absl::Status& refused) const {
  ReplayedStep replayed;
  replayed.report.step = step;
  replayed.stopped = WhyStopped(refused);
  const bool here = step == stop_.step;
  replayed.recorded = here || recorded_.Has(step);
  if (!here || replayed.stopped != stop_.why) replayed.differences = {"stop"};
  return replayed;
}

std::unique_ptr<ReplaySource::Faults> ReplaySource::FaultsOf(int rank) const {
  return std::unique_ptr<Faults>(
      new Faults{FaultPlan(planted_->specs, rank, /*replay=*/true)});
}

}  // namespace lockstep
