// Where the metrics of two runs part, read side by side.
//
// What it is: the lines of two metrics.jsonl, matched by step, as a stream: at
// most a buffer of each is in memory, and lines that agree are not parsed. What
// it is not: a reading of what a difference means (run_diff.h). Why so: a run
// of a million steps has a gigabyte of lines, and the answer is wanted in
// moments.
#ifndef LOCKSTEP_TOOLS_DIFF_METRIC_LINES_H_
#define LOCKSTEP_TOOLS_DIFF_METRIC_LINES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// The lines of a file that a trainer may still be writing.
class LineReader {
 public:
  // A file that is absent has no lines.
  static absl::StatusOr<LineReader> Open(FileSystem& fs,
                                         const std::string& path);

  // A step's line has one or two thousand bytes. What has more than this is
  // none, and would have to be held as a whole.
  static constexpr size_t kMostLineBytes = size_t{64} << 20;

  // The next whole line, without its newline, valid until the next call; none
  // at the end or before a torn last line. InputError for one that is too long.
  absl::StatusOr<std::optional<std::string_view>> Next();

 private:
  absl::Status Fill();

  std::string path_;
  std::unique_ptr<RandomAccessFile> file_;
  std::string buffer_;
  size_t at_ = 0;        // of the next line in buffer_
  uint64_t offset_ = 0;  // of what follows buffer_ in the file
};

// Whether two lines agree in all but the three fields that measure time. Both
// are looked at as text first: equal text is equal.
bool SameButForTimes(std::string_view a, std::string_view b);

// Names of the fields that differ, sorted, "fingerprint.grads" for one inside;
// times do not count. Empty for lines that agree; {"line"} for what is no
// object.
std::vector<std::string> FieldsThatDiffer(std::string_view a,
                                          std::string_view b);

// The step of a line, or -1.
int64_t StepOfLine(std::string_view line);

struct MetricsParting {
  int64_t compared = 0;             // steps that both have
  int64_t first_a = 0, last_a = 0;  // steps; 0: no line
  int64_t first_b = 0, last_b = 0;
  // The first step of both whose lines differ; 0: none.
  int64_t step = 0;
  std::vector<std::string> fields;
  // A step between the first and the last of both that only one has; 0: none.
  int64_t missing = 0;
};

// Reads to the end of both, so that the last steps are known, but compares no
// line behind the first difference.
absl::StatusOr<MetricsParting> CompareMetricLines(FileSystem& fs,
                                                  const std::string& path_a,
                                                  const std::string& path_b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DIFF_METRIC_LINES_H_
