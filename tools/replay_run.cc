#include "tools/replay_run.h"

#include <utility>

#include "determinism/status.h"
#include "parallel/thread_comm.h"
#include "tools/replay_faults.h"

namespace lockstep {

ReplayRun::ReplayRun(std::unique_ptr<ReplaySource> source)
    : source_(std::move(source)) {}

ReplayRun::~ReplayRun() = default;

absl::StatusOr<std::unique_ptr<ReplayRun>> ReplayRun::Open(
    FileSystem& fs, const std::string& run_dir, const ReplayOptions& options) {
  LS_ASSIGN_OR_RETURN(auto source, ReplaySource::Open(fs, run_dir, options));
  std::unique_ptr<ReplayRun> run(new ReplayRun(std::move(source)));
  LS_RETURN_IF_ERROR(run->MakeStepper(options));
  absl::Status restored = run->source_->Restore(*run->stepper_);
  while (absl::IsDataLoss(restored)) {
    LS_RETURN_IF_ERROR(run->source_->PassOver(restored));
    restored = run->source_->Restore(*run->stepper_);
  }
  LS_RETURN_IF_ERROR(restored);
  LS_RETURN_IF_ERROR(run->SeekTo(options.before));
  return run;
}

absl::Status ReplayRun::MakeStepper(const ReplayOptions& options) {
  RunConfig& config = source_->config();
  // On this rung one rank is as good as the run's.
  if (config.guarantee == Guarantee::kLayoutInvariant) config.parallel = {};
  LS_RETURN_IF_ERROR(CheckRunnable(config, 1));
  faults_ = source_->FaultsOf(0);
  communicator_ = std::move(MakeThreadComms(1).front());
  stepper_ = std::make_unique<Stepper>(
      config,
      StepperOptions{options.machine.threads, options.machine.isa,
                     source_->manifest().schedule_length_samples},
      &source_->dataset(), LayoutOfOne(communicator_.get()), &faults_->plan);
  return absl::OkStatus();
}

absl::StatusOr<ReplayedStep> ReplayRun::Step() {
  LS_ASSIGN_OR_RETURN(StepReport report, stepper_->Step());
  ReplayedStep step = source_->Compare(std::move(report));
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
