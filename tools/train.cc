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

absl::Status TrainLoop::OpenFiles() {
  const auto step = static_cast<int64_t>(stepper_.state().iterations);
  for (auto [file, name] : {std::pair{&metrics_, "metrics.jsonl"},
                            std::pair{&evaluations_, "eval.jsonl"}}) {
    AbandonedTail tail;
    LS_ASSIGN_OR_RETURN(
        *file, MetricsFile::Open(fs_, folder_.dir() + "/" + name, step, &tail));
    // Equal runs are told by these lines, so a line that is gone is said aloud.
    if (file == &metrics_ && tail.kept != step) {
      const int64_t missing = step - tail.kept;
      progress_.Warn(absl::StrCat("metrics.jsonl lacks ", missing, " of the ",
                                  step, " steps before this one"));
      LS_RETURN_IF_ERROR(folder_.Record(
          "abandoned_tail", {{"file", name}, {"lines_missing", missing}}));
    }
    if (tail.moved_to.empty()) continue;
    LS_RETURN_IF_ERROR(folder_.Record(
        "abandoned_tail",
        {{"file", name}, {"lines", tail.lines}, {"moved_to", tail.moved_to}}));
    progress_.Warn(absl::StrCat("moved ", tail.lines, " line(s) of ", name,
                                " beyond step ", step, " to ", tail.moved_to));
  }
  return absl::OkStatus();
}

absl::Status TrainLoop::OpenTrace() {
  const TraceConfig& config = stepper_.config().trace;
  if (config.level == "off") return absl::OkStatus();
  TraceOptions options;
  LS_ASSIGN_OR_RETURN(options.level, TraceLevelFromName(config.level));
  if (!config.steps.empty()) {
    options.first_step = config.steps[0];
    options.last_step = config.steps[1];
  }
  options.scope = config.scope;
  options.inputs = true;
  LS_RETURN_IF_ERROR(fs_.MakeDirs(folder_.dir() + "/traces"));
  const std::string path =
      absl::StrFormat("%s/traces/rank_0.step_%08d.trace", folder_.dir(),
                      static_cast<int64_t>(stepper_.state().iterations));
  LS_ASSIGN_OR_RETURN(trace_, TraceWriter::Open(fs_, path, 0, options));
  stepper_.AddObserver(trace_.get());
  return absl::OkStatus();
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

// A step that was skipped, and one that was only odd.
absl::Status TrainLoop::RecordOddities(const StepReport& report) {
  if (!report.skipped && !report.spike) return absl::OkStatus();
  LedgerFields fields = {{"step", report.step}};
  std::string text =
      absl::StrFormat("not finite at loss scale %g", report.loss_scale);
  if (report.spike) {
    text = "a spike: " + report.spike->Text();
    fields.insert(fields.end(),
                  {{"reason", "spike"},
                   {"what", report.spike->what},
                   {"value", report.spike->value},
                   {"median", report.spike->median},
                   {"limit", report.spike->limit},
                   {"sample_first", static_cast<int64_t>(report.sample_first)},
                   {"sample_last", static_cast<int64_t>(report.sample_last)}});
  } else {
    fields.insert(fields.end(), {{"reason", "not_finite"},
                                 {"loss_scale", report.loss_scale}});
  }
  progress_.Say(absl::StrFormat("step %d%s: %s", report.step,
                                report.skipped ? " skipped" : "", text));
  return folder_.Record(report.skipped ? "skip" : "spike", fields);
}

absl::Status TrainLoop::EvaluateNow(int64_t step) {
  const RunConfig& c = stepper_.config();
  LS_ASSIGN_OR_RETURN(const Evaluation evaluation,
                      Evaluate(stepper_, c.eval.samples, c.batch.micro));
  progress_.Say(absl::StrFormat(
      "step %d  held-out loss %.4f, %.4f bits per byte over %d samples", step,
      evaluation.loss, evaluation.bits_per_byte, evaluation.samples));
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
