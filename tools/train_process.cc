#include "tools/train_process.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "model/kernels/register_peak.h"
#include "parallel/over_ranks.h"
#include "tools/config_layout.h"
#include "tools/rank_lead.h"
#include "tools/run_faults.h"
#include "tools/skip_adoption.h"
#include "tools/step_memory.h"
#include "tools/train_announce.h"
#include "tools/train_checks.h"

namespace lockstep {

absl::Status TrainProcess::Agree(const absl::Status& mine) const {
  return AgreeOverRanks(*rank_.world, mine);
}

// Each stage is one that all ranks end alike, before the next one begins.
absl::Status TrainProcess::SetUp() {
  LS_RETURN_IF_ERROR(Agree(Check()));
  LS_RETURN_IF_ERROR(Agree(first() ? OpenFolderAndData() : absl::OkStatus()));
  LS_RETURN_IF_ERROR(Agree(first() ? absl::OkStatus() : OpenData()));
  LS_RETURN_IF_ERROR(MakeStepper());
  if (!first()) return FollowLead(*fs_, *stepper_);
  return RankLead(*fs_, *stepper_).End(StartRun());
}

// All that needs no folder.
absl::Status TrainProcess::Check() {
  LS_RETURN_IF_ERROR(CheckUntil(options_.until));
  LS_ASSIGN_OR_RETURN(skips_, ParseSkipRanges(options_.skip_samples));
  LS_ASSIGN_OR_RETURN(std::vector<FaultSpec> specs, ReadFaults(faults_text_));
  LS_RETURN_IF_ERROR(CheckFaultRanks(specs, rank_.world->size()));
  LS_RETURN_IF_ERROR(OpenFork());
  LS_ASSIGN_OR_RETURN(
      ResolvedRun run,
      ResolveLayout(*fs_, options_.recipe, options_.sets, options_.run_dir,
                    fork_ == nullptr ? nullptr : &fork_->manifest,
                    rank_.world->size(), options_.resume == "never"));
  run_ = std::make_unique<ResolvedRun>(std::move(run));
  const RunConfig& c = run_->config;
  LS_RETURN_IF_ERROR(CheckRunnable(c, rank_.world->size()));
  LS_RETURN_IF_ERROR(
      CheckMemory(c, DescribeMachine().memory_bytes, rank_.ranks_here));
  // What leaves no run at all is refused before there is a folder.
  LS_RETURN_IF_ERROR(CheckSamplesAreLeft(
      skips_, 0, static_cast<uint64_t>(c.batches.SamplesAfter(c.Steps()))));
  LS_RETURN_IF_ERROR(CheckBuild(options_.allow));
  LS_ASSIGN_OR_RETURN(machine_, ChooseMachine(options_.threads));
  if (options_.threads == 0) {
    machine_.threads = std::max(machine_.threads / rank_.ranks_here, 1);
  }
  if (rank_.last_words != nullptr) rank_.last_words->Set(run_->run_dir);
  faults_ = std::make_unique<RankFaults>(specs, rank_.world->rank(), fs_);
  fs_ = faults_->step_files();
  return absl::OkStatus();
}

absl::Status TrainProcess::OpenFolderAndData() {
  LS_ASSIGN_OR_RETURN(folder_, RunFolder::Open(*fs_, clock_, run_->run_dir));
  return OpenData();
}

absl::Status TrainProcess::OpenData() {
  const RunConfig& c = run_->config;
  LS_ASSIGN_OR_RETURN(
      dataset_, Dataset::Open(*fs_, c.data, run_->run_dir, c.seed,
                              c.model.vocab, [&](const std::string& text) {
                                notices_.push_back(text);
                              }));
  return absl::OkStatus();
}

absl::Status TrainProcess::MakeStepper() {
  LS_ASSIGN_OR_RETURN(groups_, MakeLayout(rank_.world, run_->config));
  stepper_ = std::make_unique<Stepper>(
      run_->config,
      StepperOptions{machine_.threads, machine_.isa,
                     run_->schedule_length_samples},
      dataset_.get(), groups_->layout, faults_->steps());
  return absl::OkStatus();
}

// On the first rank; the others follow.
absl::Status TrainProcess::StartRun() {
  LS_ASSIGN_OR_RETURN(
      Manifest manifest,
      DescribeRun(*fs_, *run_, *dataset_, machine_, clock_, faults_text_));
  LS_RETURN_IF_ERROR(StartFolder(std::move(manifest)));
  LS_ASSIGN_OR_RETURN(skip_notes_, AdoptSkips(skips_, *folder_, *stepper_));
  LS_RETURN_IF_ERROR(RankLead(*fs_, *stepper_).ShareSkips());
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

absl::StatusOr<TrainResult> TrainProcess::Train() {
  std::optional<StopSignals> signals;
  if (rank_.first_here) signals.emplace();
  const int64_t last =
      std::min(run_->config.Steps(), options_.until.value_or(INT64_MAX));
  const auto done = static_cast<int64_t>(stepper_->state().iterations);
  Progress progress(clock_, log_, done + 1, last,
                    !first() || options_.quiet || options_.json);
  if (first()) {
    const bool alone = rank_.world->size() == 1;
    LS_RETURN_IF_ERROR(
        AnnounceLaunch(*run_, machine_, *stepper_,
                       {.layout = alone ? "" : ToString(groups_->layout.shape),
                        .faults = faults_text_,
                        .notices = notices_,
                        .skips = skip_notes_},
                       progress));
  }
  if (done >= last && first()) {
    progress.Warn(NothingToDo(done, run_->config.Steps(), options_.until));
  }
  const double peak =
      done >= last || !first()
          ? 0.0
          : MeasureRegisterPeak(stepper_->device(),
                                run_->config.precision.storage());
  stepper_->WatchMicroBatches([&](int64_t done_now, int64_t of) {
    progress.MicroBatch(static_cast<int64_t>(stepper_->state().iterations) + 1,
                        done_now, of);
  });
  TrainLoop loop({.fs = *fs_,
                  .clock = clock_,
                  .run_dir = run_->run_dir,
                  .folder = folder_.get(),
                  .saves = {.fs = faults_->save_files(),
                            .faults = faults_->saves(),
                            .ranks = rank_.save_ranks},
                  .stepper = *stepper_,
                  .progress = progress,
                  .watchdog = rank_.watchdog,
                  .signals = signals ? &*signals : nullptr,
                  .peak_flops = peak * rank_.world->size()});
  auto result = loop.Run(last);
  // After a failure ranks may no longer answer each other: then this one's.
  const auto unmet =
      result.ok() ? UnmetByAll(*rank_.world, faults_text_, faults_->Unmet())
                  : faults_->Unmet();
  if (!unmet.ok()) return unmet.status();
  for (const std::string& fault : *unmet) {
    if (!first()) break;
    progress.Warn(absl::StrCat("this fault was never met: ", fault));
  }
  if (!result.ok() && first()) {
    // What stopped the run is on record even if this record fails too.
    folder_
        ->Record("stop",
                 {{"step", static_cast<int64_t>(stepper_->state().iterations)},
                  {"error", std::string(result.status().message())},
                  {"exit", static_cast<int64_t>(ExitCodeFor(result.status()))}})
        .IgnoreError();
  }
  return result;
}

}  // namespace lockstep
