// What RUN/metrics.jsonl says of each step, for whoever does a step again.
//
// What it is: the whole lines of the file, by step, and the comparison of one
// with a report. What it is not: the writer (metrics.h). Why so: "the same
// step" is one definition, the line without its three timings.
#ifndef LOCKSTEP_TOOLS_RECORDED_STEPS_H_
#define LOCKSTEP_TOOLS_RECORDED_STEPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/step_report.h"

namespace lockstep {

class RecordedSteps {
 public:
  // A torn last line (a trainer is writing it) is left out; so is what follows
  // a line that is no step, and CheckLines says so. A run without the file has
  // no steps.
  static absl::StatusOr<RecordedSteps> Read(FileSystem& fs,
                                            const std::string& run_dir);

  // InputError names the first line that is no step, if there is one.
  absl::Status CheckLines() const;

  // The last step of the file, or 0.
  int64_t last() const { return lines_.empty() ? 0 : lines_.rbegin()->first; }
  bool Has(int64_t step) const { return lines_.contains(step); }
  // The loss of a step; NaN where there is none.
  double Loss(int64_t step) const;
  double GradNorm(int64_t step) const;
  // A counter of the step's line, such as "samples_seen"; 0 where there is
  // none.
  uint64_t Count(int64_t step, const char* key) const;

  // Names of the fields of the step's line that `report` has otherwise or not
  // at all, sorted; "fingerprint.grads" for one inside. Times do not count, nor
  // do fields that the line's writer did not know. LS_CHECK: there is a line.
  std::vector<std::string> Differences(const StepReport& report) const;

 private:
  double Number(int64_t step, const char* key) const;
  std::string path_;
  int64_t bad_line_ = 0;  // from 1; 0: none
  std::map<int64_t, std::string> lines_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RECORDED_STEPS_H_
