// `lockstep explain`: the samples of a step, the most suspicious first.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "determinism/status.h"
#include "tools/explain_report.h"
#include "tools/explanation.h"
#include "tools/launches.h"
#include "tools/replay_run.h"
#include "tools/trained_model.h"
#include "tools/verbs.h"

namespace lockstep {
namespace {

// Whether the run ended in the attempt to do the step after its last.
absl::StatusOr<bool> StoppedInAStep(FileSystem& fs,
                                    const std::string& run_dir) {
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  return !ledger.entries.empty() && ledger.entries.back().event == "stop" &&
         !ledger.entries.back().Field("error").empty();
}

// Earlier steps give the samples that a step's own are compared with; where
// their checkpoint is damaged, those since the last good one must do.
absl::StatusOr<std::unique_ptr<ReplayRun>> OpenBefore(
    FileSystem& fs, const ExplainOptions& options, const Machine& machine) {
  LS_ASSIGN_OR_RETURN(const Manifest manifest,
                      ReadManifest(fs, options.run_dir));
  // Not beyond where the recipe changed: those steps were made with another.
  LS_ASSIGN_OR_RETURN(const auto launch,
                      LaunchOfStep(fs, options.run_dir, options.step));
  const int64_t since =
      std::max(manifest.parent.step, launch ? launch->since : 0);
  const int64_t begin = std::clamp<int64_t>(options.step - options.window,
                                            since + 1, options.step);
  ReplayOptions replay = {
      .before = begin, .from_seed = options.from_seed, .machine = machine};
  auto run = ReplayRun::Open(fs, options.run_dir, replay);
  if (run.ok() || ExitCodeFor(run.status()) != 4) return run;
  replay.before = options.step;
  return ReplayRun::Open(fs, options.run_dir, replay);
}

absl::Status NoSuchStep(const ExplainOptions& options, int64_t last) {
  return InputError(
      absl::StrCat("the run has not done step ", options.step), options.run_dir,
      last == 0 ? "wait for its first step"
                : absl::StrCat("name one from its first to ", last));
}

absl::Status CheckStep(FileSystem& fs, const ExplainOptions& options) {
  LS_RETURN_IF_ERROR(CheckRunExists(fs, options.run_dir));
  LS_ASSIGN_OR_RETURN(const RecordedSteps steps,
                      RecordedSteps::Read(fs, options.run_dir));
  if (steps.Has(options.step)) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const bool stopped, StoppedInAStep(fs, options.run_dir));
  return stopped && options.step == steps.last() + 1
             ? absl::OkStatus()
             : NoSuchStep(options, steps.last());
}

absl::Status AddReference(ReplayRun& run, ExplainReport& report) {
  LS_ASSIGN_OR_RETURN(const ReplayedStep step, run.Step());
  const StepSamples& samples = run.samples();
  for (size_t i = 0; i < samples.ids.size(); ++i) {
    LS_ASSIGN_OR_RETURN(const SampleExplanation sample,
                        ExamineSample(run.dataset(), samples, i));
    report.before.push_back(
        {sample.at.source, sample.loss, sample.repetition.repeated_share()});
  }
  report.losses_before.push_back(step.report.loss);
  report.norms_before.push_back(step.report.grad_norm);
  return absl::OkStatus();
}

// A step that the run stopped in has samples and losses, and no report.
absl::Status TakeTheStep(ReplayRun& run, ExplainReport& report) {
  absl::StatusOr<ReplayedStep> step = run.Step();
  if (step.ok()) {
    report.done = *std::move(step);
  } else if (absl::IsOutOfRange(step.status())) {
    report.stopped = std::string(step.status().message());
  } else {
    return step.status();
  }
  const StepSamples& samples = run.samples();
  for (size_t i = 0; i < samples.ids.size(); ++i) {
    LS_ASSIGN_OR_RETURN(SampleExplanation sample,
                        ExamineSample(run.dataset(), samples, i));
    report.samples.push_back(std::move(sample));
  }
  RankSamples(report.before, report.samples);
  return absl::OkStatus();
}

absl::StatusOr<ExplainReport> Report(FileSystem& fs,
                                     const ExplainOptions& options,
                                     const Machine& machine) {
  LS_ASSIGN_OR_RETURN(std::shared_ptr<ReplayRun> run,
                      OpenBefore(fs, options, machine));
  ExplainReport report = {.step = options.step, .began_at = run->began_at()};
  while (run->next_step() < options.step) {
    LS_RETURN_IF_ERROR(AddReference(*run, report));
  }
  LS_RETURN_IF_ERROR(TakeTheStep(*run, report));
  report.first_difference = run->first_difference();
  report.notes = run->notes();
  report.names = NamesOf(run->dataset());
  report.names.decode = [run](std::span<const int32_t> tokens) {
    return run->dataset().tokenizer().Decode(tokens);
  };
  return report;
}

}  // namespace

absl::StatusOr<Answer> ExplainVerb(const ExplainOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  LS_ASSIGN_OR_RETURN(const Machine machine, ChooseMachine(options.threads));
  LS_RETURN_IF_ERROR(CheckStep(fs, options));
  LS_ASSIGN_OR_RETURN(ExplainReport report, Report(fs, options, machine));
  // Where a launch changed the recipe within the window, the steps since the
  // last checkpoint are the ones that can recur.
  if (report.first_difference != 0 && options.window > 0) {
    ExplainOptions nearer = options;
    nearer.window = 0;
    LS_ASSIGN_OR_RETURN(ExplainReport again, Report(fs, nearer, machine));
    if (again.first_difference == 0) report = std::move(again);
  }
  if (options.json) return Answer{ExplainJson(report, options.full)};
  for (const std::string& note : report.notes) {
    std::fprintf(stderr, "lockstep: %s\n", note.c_str());
  }
  return Answer{ExplainText(report, options.full)};
}

}  // namespace lockstep
