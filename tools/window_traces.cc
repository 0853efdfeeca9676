#include "tools/window_traces.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "determinism/status.h"
#include "tools/trace_loop.h"

namespace lockstep {

absl::StatusOr<std::unique_ptr<WindowTraces>> WindowTraces::Make(
    FileSystem& fs, const std::string& folder, const TraceOptions& options) {
  std::unique_ptr<WindowTraces> traces(new WindowTraces(fs, folder, options));
  if (folder.empty()) return traces;
  if (fs.Exists(folder)) {
    return InputError("a trace is written to a new folder", folder,
                      "name one that does not exist");
  }
  LS_RETURN_IF_ERROR(fs.MakeDirs(folder));
  return traces;
}

WindowVisitor WindowTraces::Visitor() {
  if (dir_.empty()) return {};
  return {
      .begin = [this](int rank,
                      Stepper& stepper) { return Begin(rank, stepper); },
      .step = [this](int rank, Stepper&,
                     const ReplayedStep& step) { return Record(rank, step); }};
}

absl::Status WindowTraces::Close() {
  for (const auto& writer : writers_) {
    if (writer != nullptr) LS_RETURN_IF_ERROR(writer->Close());
  }
  return absl::OkStatus();
}

absl::Status WindowTraces::Begin(int rank, Stepper& stepper) {
  const std::string path =
      absl::StrFormat("%s/rank_%d.step_%08d.trace", dir_, rank,
                      static_cast<int64_t>(stepper.state().iterations));
  TraceOptions options = options_;
  options.loop = TraceLoopOn(stepper.device());
  options.ranks = stepper.layout().world->size();
  LS_ASSIGN_OR_RETURN(std::unique_ptr<TraceWriter> writer,
                      TraceWriter::Open(fs_, path, rank, options));
  stepper.AddTracer(writer.get());
  const std::lock_guard<std::mutex> lock(mutex_);
  writers_.resize(static_cast<size_t>(stepper.layout().world->size()));
  writers_[static_cast<size_t>(rank)] = std::move(writer);
  return absl::OkStatus();
}

// A step that was refused has no fields.
absl::Status WindowTraces::Record(int rank, const ReplayedStep& step) {
  if (!step.stopped.empty()) return absl::OkStatus();
  TraceWriter* writer = nullptr;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    writer = writers_[static_cast<size_t>(rank)].get();
  }
  return writer->RecordFields(step.report.step, 0, step.report.fingerprint);
}

}  // namespace lockstep
