#include "tools/train.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"
#include "tools/evaluation.h"

namespace lockstep {

TrainLoop::TrainLoop(const Parts& parts)
    : fs_(parts.fs),
      clock_(parts.clock),
      run_dir_(parts.run_dir),
      folder_(parts.folder),
      saves_(parts.saves),
      stepper_(parts.stepper),
      progress_(parts.progress),
      watchdog_(parts.watchdog),
      signals_(parts.signals),
      peak_flops_(parts.peak_flops) {}

absl::Status TrainLoop::Open() {
  LS_RETURN_IF_ERROR(OpenTrace());
  LS_RETURN_IF_ERROR(OpenSaves());
  if (folder_ == nullptr) return absl::OkStatus();
  LS_RETURN_IF_ERROR(OpenFiles());
  LS_RETURN_IF_ERROR(OpenEvents());
  SayNotes();
  return absl::OkStatus();
}

absl::StatusOr<TrainResult> TrainLoop::Run(int64_t last_step) {
  auto result = TakeSteps(last_step);
  // A step that failed has no fields behind which its records are flushed.
  if (!result.ok() && trace_ != nullptr) trace_->Close().IgnoreError();
  if (result.ok() || !async_saves_) return result;
  return async_saves_->FinishAfter(result.status());
}

absl::StatusOr<TrainResult> TrainLoop::TakeSteps(int64_t last_step) {
  Communicator& world = *stepper_.layout().world;
  LS_RETURN_IF_ERROR(AgreeOverRanks(world, Open()));
  TrainResult result;
  auto step = static_cast<int64_t>(stepper_.state().iterations);
  while (step < last_step && result.stopped_by == 0) {
    LS_ASSIGN_OR_RETURN(const StepReport report, TimedStep());
    step = report.step;
    result.loss = report.loss;
    LS_ASSIGN_OR_RETURN(result.stopped_by, StopRequest());
    LS_RETURN_IF_ERROR(
        AfterStep(report, step == last_step || result.stopped_by != 0));
  }
  LS_RETURN_IF_ERROR(FinishSave());
  result.steps = step;
  LS_RETURN_IF_ERROR(Finish(result));
  return result;
}

// All ranks stop after the same step, whichever of them was told to, and all
// learn of a save that failed behind their backs before they go on.
absl::StatusOr<int> TrainLoop::StopRequest() {
  const int signal = signals_ == nullptr ? 0 : signals_->received();
  const bool failed = async_saves_ && async_saves_->Failed();
  int64_t asked[] = {signal, failed ? 1 : 0};
  LS_RETURN_IF_ERROR(
      stepper_.layout().world->AllReduceMax(std::span<int64_t>(asked)));
  if (asked[1] != 0) LS_RETURN_IF_ERROR(FinishSave());
  return static_cast<int>(asked[0]);
}

// Speeds over the steps of this launch.
absl::Status TrainLoop::SumUp(TrainResult& result) const {
  Communicator& world = *stepper_.layout().world;
  int64_t waited_ns = waited_ns_;
  LS_RETURN_IF_ERROR(AddOverRanks(world, std::span(&waited_ns, 1)));
  result.peak_bytes = stepper_.device().peak_bytes();
  LS_RETURN_IF_ERROR(world.AllReduceMax(std::span(&result.peak_bytes, 1)));
  if (busy_ns_ > 0) {
    result.exposed_comm_ms =
        static_cast<double>(waited_ns) * 1e-6 /
        static_cast<double>(steps_ * static_cast<int64_t>(world.size()));
    const double seconds = static_cast<double>(busy_ns_) * 1e-9;
    result.tokens_per_s = static_cast<double>(tokens_) / seconds;
    const RunConfig& c = stepper_.config();
    const double flops_a_token =
        ModelFlopsPerStep(c.model, 1, c.data.sequence) /
        static_cast<double>(c.data.sequence);
    if (peak_flops_ > 0) {
      result.mfu = result.tokens_per_s * flops_a_token / peak_flops_;
    }
  }
  return absl::OkStatus();
}

absl::Status TrainLoop::Finish(TrainResult& result) {
  LS_ASSIGN_OR_RETURN(result.unseed, stepper_.StateField());
  LS_RETURN_IF_ERROR(SumUp(result));
  if (folder_ == nullptr) return absl::OkStatus();
  return folder_->Record("stop",
                         {{"step", result.steps},
                          {"signal", static_cast<int64_t>(result.stopped_by)},
                          {"unseed", result.unseed}});
}

int64_t TrainLoop::WaitedNs() const {
  return watchdog_ == nullptr ? 0 : watchdog_->waited_ns();
}

absl::StatusOr<StepReport> TrainLoop::TimedStep() {
  const int64_t batch = stepper_.config().batches.At(
      static_cast<int64_t>(stepper_.state().samples_seen));
  const int64_t start = clock_.MonotonicNanos(), waited = WaitedNs();
  if (watchdog_ != nullptr) {
    watchdog_->BeginStep(static_cast<int64_t>(stepper_.state().iterations) + 1);
  }
  LS_ASSIGN_OR_RETURN(StepReport report, stepper_.Step());
  if (watchdog_ != nullptr) watchdog_->EndStep();
  const int64_t ns = std::max<int64_t>(clock_.MonotonicNanos() - start, 1);
  const RunConfig& c = stepper_.config();
  const int64_t tokens = batch * c.data.sequence;
  const double seconds = static_cast<double>(ns) * 1e-9;
  busy_ns_ += ns;
  steps_ += 1;
  waited_ns_ += WaitedNs() - waited;
  tokens_ += tokens;
  report.step_ms = seconds * 1e3;
  report.tokens_per_s = static_cast<double>(tokens) / seconds;
  if (peak_flops_ > 0) {
    report.mfu = ModelFlopsPerStep(c.model, batch, c.data.sequence) / seconds /
                 peak_flops_;
  }
  return report;
}

// What the first rank writes of a step.
absl::Status TrainLoop::Write(const StepReport& report) {
  if (trace_ != nullptr) {
    LS_RETURN_IF_ERROR(
        trace_->RecordFields(report.step, report.attempt, report.fingerprint));
  }
  if (folder_ == nullptr) return absl::OkStatus();
  // The file may be a successor's by now, whose lines these are not.
  LS_RETURN_IF_ERROR(folder_->CheckStillHolder());
  LS_RETURN_IF_ERROR(metrics_->Append(MetricsLine(report)));
  LS_RETURN_IF_ERROR(ShowScalars(report.step, ScalarsOf(report)));
  progress_.Step(report);
  LS_RETURN_IF_ERROR(RecordOddities(report));
  return RecordGrid(report);
}

absl::Status TrainLoop::AfterStep(const StepReport& report, bool last) {
  LS_RETURN_IF_ERROR(AgreeOverRanks(*stepper_.layout().world, Write(report)));
  const RunConfig& c = stepper_.config();
  if (c.eval.every > 0 && report.step % c.eval.every == 0) {
    LS_RETURN_IF_ERROR(EvaluateNow(report.step));
  }
  const bool due =
      c.checkpoint.every > 0 && report.step % c.checkpoint.every == 0;
  if (due || last) LS_RETURN_IF_ERROR(SaveNow(last));
  return absl::OkStatus();
}

absl::Status TrainLoop::EvaluateNow(int64_t step) {
  const RunConfig& c = stepper_.config();
  LS_ASSIGN_OR_RETURN(const Evaluation evaluation,
                      Evaluate(stepper_, c.eval.samples, c.batch.micro));
  if (folder_ == nullptr) return absl::OkStatus();
  progress_.Say(absl::StrFormat(
      "step %d  held-out loss %.4f, %.4f bits per byte over %d samples", step,
      evaluation.loss, evaluation.bits_per_byte, evaluation.samples));
  LS_RETURN_IF_ERROR(folder_->CheckStillHolder());
  LS_RETURN_IF_ERROR(ShowScalars(step, ScalarsOf(evaluation)));
  return evaluations_->Append(EvaluationLine(step, evaluation));
}

}  // namespace lockstep
