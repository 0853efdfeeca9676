#include "tools/replay_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/find.h"
#include "ckpt/ledger.h"
#include "ckpt/verify.h"
#include "determinism/fault.h"
#include "determinism/float_env.h"
#include "determinism/status.h"
#include "parallel/thread_comm.h"
#include "tools/bazel/build_stamp.h"
#include "tools/launches.h"
#include "tools/restore.h"
#include "tools/run_faults.h"
#include "tools/skip_adoption.h"
#include "tools/stored_run.h"

namespace lockstep {

struct ReplayRun::Faults {
  FaultPlan plan;
};

ReplayRun::ReplayRun(FileSystem& fs, std::string run_dir)
    : fs_(fs), run_dir_(std::move(run_dir)) {}

ReplayRun::~ReplayRun() = default;

absl::StatusOr<std::unique_ptr<ReplayRun>> ReplayRun::Open(
    FileSystem& fs, const std::string& run_dir, const ReplayOptions& options) {
  std::unique_ptr<ReplayRun> run(new ReplayRun(fs, run_dir));
  LS_RETURN_IF_ERROR(run->OpenAll(options));
  LS_RETURN_IF_ERROR(run->Restore(options));
  LS_RETURN_IF_ERROR(run->PlanSkips());
  LS_RETURN_IF_ERROR(run->SeekTo(options.before));
  return run;
}

// The step after the last is one that the run was about to do.
absl::Status ReplayRun::CheckStep(int64_t step) const {
  int64_t last = recorded_.last();
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs_, run_dir_));
  if (!checkpoints.empty()) last = std::max(last, checkpoints.back().step);
  if (step >= first_step() && step <= last + 1) return absl::OkStatus();
  return InputError(
      absl::StrCat("the run has no step ", step), run_dir_,
      absl::StrCat("name a step from ", first_step(), " to ", last));
}

absl::Status ReplayRun::OpenAll(const ReplayOptions& options) {
  LS_ASSIGN_OR_RETURN(manifest_, ManifestOfStep(fs_, run_dir_, options.before));
  LS_ASSIGN_OR_RETURN(recorded_, RecordedSteps::Read(fs_, run_dir_));
  LS_RETURN_IF_ERROR(CheckStep(options.before));
  LS_ASSIGN_OR_RETURN(RunConfig config,
                      StoredConfig(fs_, run_dir_, manifest_, options.sets));
  // On this rung one rank is as good as the run's.
  if (config.guarantee == Guarantee::kLayoutInvariant) config.parallel = {};
  LS_RETURN_IF_ERROR(CheckRunnable(config, 1));
  LS_ASSIGN_OR_RETURN(dataset_,
                      OpenStoredData(fs_, run_dir_, manifest_, config));
  if (manifest_.code.commit != BuildCommit()) {
    notes_.push_back(absl::StrCat("the run was made by commit ",
                                  manifest_.code.commit, ", this program by ",
                                  BuildCommit()));
  }
  LS_ASSIGN_OR_RETURN(const std::vector<FaultSpec> faults,
                      KeptFaults(fs_, run_dir_));
  faults_.reset(new Faults{FaultPlan(faults, 0, /*replay=*/true)});
  communicator_ = std::move(MakeThreadComms(1).front());
  stepper_ = std::make_unique<Stepper>(
      config,
      StepperOptions{options.machine.threads, options.machine.isa,
                     manifest_.schedule_length_samples},
      dataset_.get(), LayoutOfOne(communicator_.get()), &faults_->plan);
  return absl::OkStatus();
}

// What the run passed over, where it began to.
absl::Status ReplayRun::PlanSkips() {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs_, run_dir_));
  LS_ASSIGN_OR_RETURN(std::vector<SkipRange> skips,
                      RecordedSkips(ledger.entries));
  return stepper_->PlanSkips(std::move(skips));
}

absl::Status ReplayRun::Restore(const ReplayOptions& options) {
  const int64_t asked = options.checkpoint_at_most < 0
                            ? options.before - 1
                            : options.checkpoint_at_most;
  ResumeRequest request;
  request.mode = options.from_seed ? ResumeMode::kNever : ResumeMode::kAuto;
  request.at_most_step = std::min(asked, options.before - 1);
  LS_ASSIGN_OR_RETURN(const FoundCheckpoint found,
                      FindCheckpoint(fs_, run_dir_, request, manifest_.run_id));
  if (found.fresh) {
    if (first_step() > 1) {
      return NoUsableCheckpoint(
          absl::StrCat("the run grew from step ", manifest_.parent.step,
                       " of run ", manifest_.parent.run_id,
                       ", and the checkpoint of that is gone"),
          run_dir_, "name a step after its oldest checkpoint");
    }
    const ScopedFloatEnv float_env;
    LS_RETURN_IF_ERROR(stepper_->Initialise());
    return NoteOtherRecipe(options.before);
  }
  notes_.insert(notes_.end(), found.notes.begin(), found.notes.end());
  LS_RETURN_IF_ERROR(RestoreStepper(fs_, *stepper_, found.dir).status());
  began_at_ = found.step;
  return NoteOtherRecipe(options.before);
}

absl::Status ReplayRun::NoteOtherRecipe(int64_t step) {
  LS_ASSIGN_OR_RETURN(const auto launch, LaunchOfStep(fs_, run_dir_, step));
  const int64_t since = launch ? launch->since : 0;
  if (began_at_ >= std::min(since, step - 1)) return absl::OkStatus();
  notes_.push_back(absl::StrCat(
      "the recipe changed after step ", since,
      " and no checkpoint of then is left: steps ", began_at_ + 1, " to ",
      since, " are done again with the recipe of step ", step));
  return absl::OkStatus();
}

absl::StatusOr<ReplayedStep> ReplayRun::Step() {
  ReplayedStep step;
  LS_ASSIGN_OR_RETURN(step.report, stepper_->Step());
  step.recorded = recorded_.Has(step.report.step);
  if (step.recorded) step.differences = recorded_.Differences(step.report);
  if (!step.differences.empty() && first_difference_ == 0) {
    first_difference_ = step.report.step;
  }
  return step;
}

absl::Status ReplayRun::SeekTo(int64_t step) {
  while (next_step() < step) {
    LS_RETURN_IF_ERROR(Step().status());
  }
  return absl::OkStatus();
}

void ReplayRun::AddObserver(OperationObserver* observer) {
  stepper_->AddObserver(observer);
}

}  // namespace lockstep
