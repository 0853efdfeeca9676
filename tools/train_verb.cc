// `lockstep train`: from a recipe's path to a finished run.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/fault_file_system.h"
#include "determinism/status.h"
#include "model/kernels/register_peak.h"
#include "parallel/thread_comm.h"
#include "tools/run_faults.h"
#include "tools/run_setup.h"
#include "tools/skip_adoption.h"
#include "tools/train.h"
#include "tools/train_checks.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

// One training process, set up step by step; members in order of life.
class TrainProcess {
 public:
  TrainProcess(const TrainOptions& options)
      : options_(options), faults_text_(options.faults) {}

  absl::StatusOr<TrainResult> Run();

 private:
  absl::Status SetUp();
  absl::Status OpenFork();
  absl::Status StartFolder(Manifest manifest);
  absl::Status Announce(Progress& progress) const;
  absl::StatusOr<TrainResult> Train();

  TrainOptions options_;
  std::vector<std::string> faults_text_;
  RealClock clock_;
  std::unique_ptr<FaultPlan> faults_;
  std::unique_ptr<FaultFileSystem> fault_fs_;
  FileSystem* fs_ = PosixFileSystem();
  std::unique_ptr<ForkSource> fork_;  // null: no fork
  std::unique_ptr<ResolvedRun> run_;
  Machine machine_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<std::string> notices_, skip_notes_;
};

absl::Status TrainProcess::SetUp() {
  LS_RETURN_IF_ERROR(CheckUntil(options_.until));
  LS_ASSIGN_OR_RETURN(const std::vector<SkipRange> skips,
                      ParseSkipRanges(options_.skip_samples));
  LS_ASSIGN_OR_RETURN(std::vector<FaultSpec> specs, ReadFaults(faults_text_));
  LS_RETURN_IF_ERROR(OpenFork());
  LS_ASSIGN_OR_RETURN(
      ResolvedRun run,
      ResolveRun(*fs_, options_.recipe, options_.sets, options_.run_dir,
                 fork_ == nullptr ? nullptr : &fork_->manifest));
  run_ = std::make_unique<ResolvedRun>(std::move(run));
  LS_RETURN_IF_ERROR(CheckRunnable(run_->config, options_.ranks));
  LS_RETURN_IF_ERROR(CheckMemory(run_->config, DescribeMachine().memory_bytes));
  LS_RETURN_IF_ERROR(CheckBuild(options_.allow));
  LS_ASSIGN_OR_RETURN(machine_, ChooseMachine(options_.threads));
  faults_ = std::make_unique<FaultPlan>(std::move(specs), 0);
  if (!faults_->empty()) {
    fault_fs_ = std::make_unique<FaultFileSystem>(fs_, faults_.get());
    fs_ = fault_fs_.get();
  }
  LS_ASSIGN_OR_RETURN(folder_, RunFolder::Open(*fs_, clock_, run_->run_dir));
  LS_ASSIGN_OR_RETURN(
      dataset_,
      Dataset::Open(*fs_, run_->config.data, run_->run_dir, run_->config.seed,
                    run_->config.model.vocab, [&](const std::string& text) {
                      notices_.push_back(text);
                    }));
  communicator_ = std::move(MakeThreadComms(1).front());
  stepper_ = std::make_unique<Stepper>(
      run_->config,
      StepperOptions{machine_.threads, machine_.isa,
                     run_->schedule_length_samples},
      dataset_.get(), communicator_.get(), faults_.get());
  LS_ASSIGN_OR_RETURN(
      Manifest manifest,
      DescribeRun(*fs_, *run_, *dataset_, machine_, clock_, faults_text_));
  LS_RETURN_IF_ERROR(StartFolder(std::move(manifest)));
  LS_ASSIGN_OR_RETURN(skip_notes_, AdoptSkips(skips, *folder_, *stepper_));
  return KeepFaults(*fs_, run_->run_dir,
                    static_cast<int64_t>(stepper_->state().iterations),
                    faults_text_);
}

// The parent's checkpoint is verified before anything is made.
absl::Status TrainProcess::OpenFork() {
  if (options_.fork.empty()) return absl::OkStatus();
  if (options_.resume != "auto") {
    return InputError("--fork and --resume say two different things",
                      "--resume " + options_.resume,
                      "a fork begins a new run: leave --resume out");
  }
  LS_ASSIGN_OR_RETURN(ForkSource source, OpenForkSource(*fs_, options_.fork));
  fork_ = std::make_unique<ForkSource>(std::move(source));
  return absl::OkStatus();
}

absl::Status TrainProcess::StartFolder(Manifest manifest) {
  const Allowance allowance = {options_.allow, options_.reason};
  if (fork_ == nullptr) {
    return folder_->Start(ParseResume(options_.resume), allowance,
                          std::move(manifest), *stepper_);
  }
  return folder_->StartFork(*fork_, run_->keeps_schedule, allowance,
                            run_->config.checkpoint, std::move(manifest),
                            *stepper_);
}

absl::Status TrainProcess::Announce(Progress& progress) const {
  const RunConfig& c = run_->config;
  for (const std::string& fault : faults_text_) {
    progress.Warn(absl::StrCat("FAULT ON PURPOSE: ", fault));
  }
  progress.Say(absl::StrFormat(
      "%s: %s, %s, %d parameters, %d steps of %d x %d tokens, %d threads "
      "(%s), in %s",
      run_->recipe.name(), NameOf(c.guarantee), c.precision.mode,
      stepper_->parameter_count(), c.Steps(), c.batch.global, c.data.sequence,
      machine_.threads, NameOf(machine_.isa), run_->run_dir));
  for (const std::string& notice : notices_) progress.Say(notice);
  for (const std::string& note : skip_notes_) progress.Warn(note);
  if (dataset_->source_count() > 1) {
    LS_ASSIGN_OR_RETURN(const std::string draws, stepper_->DescribeDraws());
    progress.Say("data: " + draws);
  }
  return absl::OkStatus();
}

absl::StatusOr<TrainResult> TrainProcess::Train() {
  const StopSignals signals;
  const int64_t last =
      std::min(run_->config.Steps(), options_.until.value_or(INT64_MAX));
  const auto done = static_cast<int64_t>(stepper_->state().iterations);
  Progress progress(clock_, done + 1, last, options_.quiet || options_.json);
  LS_RETURN_IF_ERROR(Announce(progress));
  if (done >= last) {
    progress.Say(
        absl::StrCat("nothing to do: step ", done, " of ", last, " is done"));
  }
  const double peak =
      done >= last ? 0.0 : MeasureRegisterPeak(stepper_->device());
  TrainLoop loop(*fs_, clock_, *folder_, *stepper_, progress, peak);
  auto result = loop.Run(last, signals);
  for (const std::string& fault : faults_->Unfired()) {
    progress.Warn(absl::StrCat("this fault was never met: ", fault));
  }
  if (!result.ok()) {
    // What stopped the run is on record even if this record fails too.
    folder_
        ->Record("stop",
                 {{"step", static_cast<int64_t>(stepper_->state().iterations)},
                  {"error", std::string(result.status().message())}})
        .IgnoreError();
  }
  return result;
}

absl::StatusOr<TrainResult> TrainProcess::Run() {
  LS_RETURN_IF_ERROR(SetUp());
  return Train();
}

std::string ResultText(const TrainResult& r, bool json) {
  if (!json) return absl::StrCat("unseed ", r.unseed, "\n");
  const nlohmann::ordered_json object = {{"steps", r.steps},
                                         {"loss", r.loss},
                                         {"unseed", r.unseed},
                                         {"tokens_per_s", r.tokens_per_s},
                                         {"mfu", r.mfu}};
  return object.dump() + "\n";
}

}  // namespace

absl::StatusOr<Answer> TrainVerb(const TrainOptions& options) {
  TrainProcess process(options);
  LS_ASSIGN_OR_RETURN(const TrainResult result, process.Run());
  if (result.stopped_by != 0) {
    return StoppedOnRequest(
        absl::StrCat("stopped by signal ", result.stopped_by, " after step ",
                     result.steps, ", saved; unseed ", result.unseed),
        options.recipe,
        options.fork.empty() ? "run the same command again to go on"
                             : "run the same command without --fork to go on");
  }
  return Answer{ResultText(result, options.json)};
}

}  // namespace lockstep
