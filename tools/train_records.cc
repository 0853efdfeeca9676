// What the train loop writes besides checkpoints: its files, opened and kept.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ckpt/run_lock.h"
#include "determinism/status.h"
#include "tools/trace_loop.h"
#include "tools/trace_scopes.h"
#include "tools/train.h"

namespace lockstep {

absl::Status TrainLoop::OpenFiles() {
  const auto step = static_cast<int64_t>(stepper_.state().iterations);
  for (auto [file, name] : {std::pair{&metrics_, "metrics.jsonl"},
                            std::pair{&evaluations_, "eval.jsonl"}}) {
    AbandonedTail tail;
    LS_ASSIGN_OR_RETURN(
        *file,
        MetricsFile::Open(fs_, folder_->dir() + "/" + name, step, &tail));
    // Equal runs are told by these lines, so a line that is gone is said aloud.
    const int64_t missing = step - folder_->steps_before() - tail.kept;
    if (file == &metrics_ && missing != 0) {
      progress_.Warn(absl::StrCat("metrics.jsonl lacks ", missing, " of the ",
                                  step, " steps before this one"));
      LS_RETURN_IF_ERROR(folder_->Record(
          "abandoned_tail", {{"file", name}, {"lines_missing", missing}}));
    }
    if (tail.moved_to.empty()) continue;
    LS_RETURN_IF_ERROR(
        folder_->Record("abandoned_tail", {{"file", name},
                                           {"lines", tail.lines},
                                           {"why", tail.why},
                                           {"moved_to", tail.moved_to}}));
    progress_.Warn(absl::StrCat("moved ", tail.lines, " line(s) of ", name, " ",
                                tail.why, " to ", tail.moved_to));
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
  LS_ASSIGN_OR_RETURN(options.values, TraceValuesFromName(config.values));
  options.loop = TraceLoopOn(stepper_.device());
  const int rank = stepper_.layout().world->rank();
  options.ranks = stepper_.layout().world->size();
  for (const int64_t named : config.ranks) {
    if (named < options.ranks || folder_ == nullptr) continue;
    progress_.Warn(absl::StrCat("trace.ranks names rank ", named,
                                ", and there are ", options.ranks, " ranks"));
  }
  for (const std::string& note :
       TraceScopeNotes(config.scope, stepper_.config().model.Layers().size())) {
    if (folder_ != nullptr) progress_.Warn(note);
  }
  if (!config.ranks.empty() &&
      std::find(config.ranks.begin(), config.ranks.end(), rank) ==
          config.ranks.end()) {
    return absl::OkStatus();
  }
  LS_RETURN_IF_ERROR(fs_.MakeDirs(run_dir_ + "/traces"));
  const std::string path =
      absl::StrFormat("%s/traces/rank_%d.step_%08d.trace", run_dir_, rank,
                      static_cast<int64_t>(stepper_.state().iterations));
  LS_ASSIGN_OR_RETURN(trace_, TraceWriter::Open(fs_, path, rank, options));
  stepper_.AddTracer(trace_.get());
  return absl::OkStatus();
}

// Curves are for looking at: a run does not end because they cannot be drawn,
// and it does not keep silent about it either.
absl::Status TrainLoop::OpenEvents() {
  if (!stepper_.config().metrics.tensorboard) return absl::OkStatus();
  const LockOwner owner = ThisProcess();
  auto events =
      EventFile::Open(fs_, clock_, folder_->dir() + "/tb",
                      absl::StrCat(owner.host, ".", owner.pid),
                      static_cast<int64_t>(stepper_.state().iterations) + 1);
  if (!events.ok()) return StopEvents(events.status());
  events_ = *std::move(events);
  return absl::OkStatus();
}

absl::Status TrainLoop::ShowScalars(int64_t step, const Scalars& scalars) {
  if (events_ == nullptr) return absl::OkStatus();
  const absl::Status written = events_->Append(step, scalars);
  return written.ok() ? absl::OkStatus() : StopEvents(written);
}

absl::Status TrainLoop::StopEvents(const absl::Status& why) {
  events_.reset();
  const std::string message(why.message());
  progress_.Warn("no more TensorBoard events from this launch: " + message);
  return folder_->Record("tensorboard_stop", {{"error", message}});
}

// A step that was computed again, and tensors whose smallest gradients vanish
// below the grid: metrics.jsonl has every step of it, ledger and stderr the
// first one of this launch for each tensor.
absl::Status TrainLoop::RecordGrid(const StepReport& report) {
  if (!report.overflowed.empty()) {
    progress_.Say(absl::StrCat("step ", report.step,
                               " was computed again: its gradients outgrew the "
                               "integer grid of ",
                               absl::StrJoin(report.overflowed, ", ")));
    LS_RETURN_IF_ERROR(folder_->Record(
        "grid_recompute", {{"step", report.step},
                           {"attempt", static_cast<int64_t>(report.attempt)},
                           {"tensors", report.overflowed}}));
  }
  std::vector<std::string> lost;
  for (const auto& [tensor, entries] : report.below_grid) {
    if (!warned_.insert(tensor).second) continue;
    lost.push_back(absl::StrCat(tensor, ": ", entries));
  }
  if (lost.empty()) return absl::OkStatus();
  progress_.Warn(absl::StrCat(
      "step ", report.step,
      ": gradient entries vanish below the integer grid, ",
      absl::StrJoin(lost, ", "),
      "; magnitudes in such a tensor span more than the grid holds (N5)"));
  return folder_->Record("grid_lost_range",
                         {{"step", report.step}, {"entries", lost}});
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
  const std::string line = absl::StrFormat(
      "step %d%s: %s", report.step, report.skipped ? " skipped" : "", text);
  // A loss scale that is too large is everyday; a spike is not.
  if (report.spike) {
    progress_.Warn(line);
  } else {
    progress_.Say(line);
  }
  return folder_->Record(report.skipped ? "skip" : "spike", fields);
}

}  // namespace lockstep
