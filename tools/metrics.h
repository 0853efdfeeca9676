// RUN/metrics.jsonl: one JSON object a step, written by one rank, flushed.
//
// What it is: the fields that outside checks compare between runs, each loss,
// norm and rate also as the 16 hex digits of its binary64. What it is not: a
// log of events (that is the ledger) or a display. Why so: printed decimals
// hide low bits; the hex never does. A step never stands twice: what lies
// beyond the step a run resumes from is moved aside, not overwritten.
#ifndef LOCKSTEP_TOOLS_METRICS_H_
#define LOCKSTEP_TOOLS_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/step_report.h"

namespace lockstep {

// One line without its newline.
std::string MetricsLine(const StepReport& report);

// 16 lower-case hex digits.
std::string BitsOf(double value);

// What a resume moved off the end of the file.
struct AbandonedTail {
  int64_t lines = 0;
  std::string moved_to;  // empty when nothing was moved
  int64_t kept = 0;      // lines that stay
  std::string why;       // of the first that was moved: "beyond step 10", or
                         // what is wrong with it
};

class MetricsFile {
 public:
  // Opens `path` to continue after `last_step`; lines beyond it, and all from
  // one on that is torn, has no step or not a later one than the line before,
  // go to `<path>.abandoned-N`. A file that lacks steps up to
  // last_step is continued and the gap stays visible.
  static absl::StatusOr<std::unique_ptr<MetricsFile>> Open(
      FileSystem& fs, const std::string& path, int64_t last_step,
      AbandonedTail* abandoned);

  absl::Status Append(const std::string& line);

 private:
  explicit MetricsFile(std::unique_ptr<WritableFile> file)
      : file_(std::move(file)) {}
  std::unique_ptr<WritableFile> file_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_METRICS_H_
