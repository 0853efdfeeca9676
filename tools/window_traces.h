// Traces of a replayed window: a file a rank, in a new folder.
#ifndef LOCKSTEP_TOOLS_WINDOW_TRACES_H_
#define LOCKSTEP_TOOLS_WINDOW_TRACES_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/trace_writer.h"
#include "tools/replay_window.h"

namespace lockstep {

class WindowTraces {
 public:
  // `folder` empty: no traces. InputError where it exists. `fs` is borrowed.
  static absl::StatusOr<std::unique_ptr<WindowTraces>> Make(
      FileSystem& fs, const std::string& folder, const TraceOptions& options);

  // What ReplayWindow is to call; this object outlives it.
  WindowVisitor Visitor();
  absl::Status Close();

 private:
  WindowTraces(FileSystem& fs, std::string dir, TraceOptions options)
      : fs_(fs), dir_(std::move(dir)), options_(std::move(options)) {}
  absl::Status Begin(int rank, Stepper& stepper);
  absl::Status Record(int rank, const ReplayedStep& step);

  FileSystem& fs_;
  const std::string dir_;
  const TraceOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TraceWriter>> writers_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_WINDOW_TRACES_H_
