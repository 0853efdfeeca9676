#include "tools/train.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "tools/evaluation.h"
#include "tools/step_fingerprint.h"

namespace lockstep {

TrainLoop::TrainLoop(FileSystem& fs, Clock& clock, RunFolder& folder,
                     Stepper& stepper, Progress& progress, double peak_flops)
    : fs_(fs),
      clock_(clock),
      folder_(folder),
      stepper_(stepper),
      progress_(progress),
      peak_flops_(peak_flops) {}

absl::StatusOr<TrainResult> TrainLoop::Run(int64_t last_step,
                                           const StopSignals& signals) {
  LS_RETURN_IF_ERROR(OpenFiles());
  LS_RETURN_IF_ERROR(OpenTrace());
  LS_RETURN_IF_ERROR(OpenEvents());
  SayNotes();
  TrainResult result;
  auto step = static_cast<int64_t>(stepper_.state().iterations);
  while (step < last_step && result.stopped_by == 0) {
    LS_ASSIGN_OR_RETURN(const StepReport report, TimedStep());
    step = report.step;
    result.loss = report.loss;
    result.stopped_by = signals.received();
    LS_RETURN_IF_ERROR(
        AfterStep(report, step == last_step || result.stopped_by != 0));
  }
  result.steps = step;
  result.unseed = StateField(stepper_.registry());
  if (busy_ns_ > 0) {
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
  LS_RETURN_IF_ERROR(folder_.Record(
      "stop", {{"step", result.steps},
               {"signal", static_cast<int64_t>(result.stopped_by)},
               {"unseed", result.unseed}}));
  return result;
}

absl::StatusOr<StepReport> TrainLoop::TimedStep() {
  const int64_t batch = stepper_.config().batches.At(
      static_cast<int64_t>(stepper_.state().samples_seen));
  const int64_t start = clock_.MonotonicNanos();
  LS_ASSIGN_OR_RETURN(StepReport report, stepper_.Step());
  const int64_t ns = std::max<int64_t>(clock_.MonotonicNanos() - start, 1);
  const RunConfig& c = stepper_.config();
  const int64_t tokens = batch * c.data.sequence;
  const double seconds = static_cast<double>(ns) * 1e-9;
  busy_ns_ += ns;
  tokens_ += tokens;
  report.step_ms = seconds * 1e3;
  report.tokens_per_s = static_cast<double>(tokens) / seconds;
  if (peak_flops_ > 0) {
    report.mfu = ModelFlopsPerStep(c.model, batch, c.data.sequence) / seconds /
                 peak_flops_;
  }
  return report;
}

absl::Status TrainLoop::AfterStep(const StepReport& report, bool last) {
  LS_RETURN_IF_ERROR(metrics_->Append(MetricsLine(report)));
  LS_RETURN_IF_ERROR(ShowScalars(report.step, ScalarsOf(report)));
  if (trace_ != nullptr) {
    LS_RETURN_IF_ERROR(
        trace_->RecordFields(report.step, 0, report.fingerprint));
  }
  progress_.Step(report);
  LS_RETURN_IF_ERROR(RecordOddities(report));
  const RunConfig& c = stepper_.config();
  if (c.eval.every > 0 && report.step % c.eval.every == 0) {
    LS_RETURN_IF_ERROR(EvaluateNow(report.step));
  }
  const bool due =
      c.checkpoint.every > 0 && report.step % c.checkpoint.every == 0;
  if (due || last) LS_RETURN_IF_ERROR(SaveNow());
  return absl::OkStatus();
}

absl::Status TrainLoop::EvaluateNow(int64_t step) {
  const RunConfig& c = stepper_.config();
  LS_ASSIGN_OR_RETURN(const Evaluation evaluation,
                      Evaluate(stepper_, c.eval.samples, c.batch.micro));
  progress_.Say(absl::StrFormat(
      "step %d  held-out loss %.4f, %.4f bits per byte over %d samples", step,
      evaluation.loss, evaluation.bits_per_byte, evaluation.samples));
  LS_RETURN_IF_ERROR(ShowScalars(step, ScalarsOf(evaluation)));
  return evaluations_->Append(EvaluationLine(step, evaluation));
}

absl::Status TrainLoop::SaveNow() {
  LS_RETURN_IF_ERROR(folder_.Save(stepper_, stepper_.config().checkpoint));
  SayNotes();
  return absl::OkStatus();
}

void TrainLoop::SayNotes() {
  for (const std::string& note : folder_.TakeNotes()) progress_.Warn(note);
}

}  // namespace lockstep
