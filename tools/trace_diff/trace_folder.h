// The traces of a run or of a replay: a folder of files, one a rank and launch.
//
// What it is: which files there are, and what each rank did, in its order. What
// it is not: a comparison. Why so: a resume begins a new file and does some
// steps again, so a rank's trace is what its launches left of each step: the
// last that did it.
#ifndef LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_FOLDER_H_
#define LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_FOLDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/trace_diff/operation_list.h"
#include "tools/trace_diff/trace_filter.h"

namespace lockstep {

struct TraceFolder {
  std::string path;
  std::string level;  // of all its files
  // Of each rank its files by the steps done at their launch.
  std::map<int, std::map<int64_t, std::string>> files;
  std::map<int, TraceCoverage> coverage;  // of each rank
  int ranks = 0;                          // of the run; 0: not said
  // Steps done at a launch -> the step that a later launch went back to, whose
  // trace need not be here: what it did again.
  std::map<int64_t, int64_t> redone;
  std::vector<std::string> notes;  // torn ends, steps that were done again
};

// A folder of trace files, or a run's, whose traces/ is taken. InputError where
// there are none, or where their levels differ.
absl::StatusOr<TraceFolder> OpenTraceFolder(FileSystem& fs,
                                            const std::string& path);

// What `rank` did in these steps, occurrences counted; of what a trace of
// `other` can answer, if given.
absl::StatusOr<OperationList> OperationsOf(
    FileSystem& fs, TraceFolder& folder, int rank, const TraceSteps& steps = {},
    const TraceCoverage* other = nullptr);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRACE_DIFF_TRACE_FOLDER_H_
