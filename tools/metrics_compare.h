// Where the metrics of two runs part: line by line, but for the clocks.
//
// What it is: the interface's "two runs are equal" as a function of two files.
// What it is not: a verdict on why, or on what one step came to
// (recorded_steps.h). Why so: whoever holds two runs against each other must
// mean the same by it.
#ifndef LOCKSTEP_TOOLS_METRICS_COMPARE_H_
#define LOCKSTEP_TOOLS_METRICS_COMPARE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

struct MetricsComparison {
  int64_t lines = 0;  // that are equal, from the first on
  int64_t step = 0;   // of the first that is not; 0: none
  std::vector<std::string> fields =
      {};  // of that, by name; "line": one lacks it
  bool equal() const { return step == 0 && lines > 0; }
};

// metrics.jsonl of both folders; all fields but step_ms, tokens_per_s and mfu.
absl::StatusOr<MetricsComparison> CompareMetrics(FileSystem& fs,
                                                 const std::string& run_a,
                                                 const std::string& run_b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_METRICS_COMPARE_H_
