// The trace files of steps that a resume went back behind.
//
// What it is: files of launches that began at the step that a run goes on from,
// or beyond it: the steps in them are done again, and would stand in the trace
// twice. They move to RUN/abandoned/GENERATION/traces, like checkpoints. What
// it is not: a cut in the file of an earlier launch, whose steps behind that
// the next launch's file replaces (trace_folder.h). Why so: a trace says what
// was done on the way to the bits that are there.
#ifndef LOCKSTEP_TOOLS_ABANDONED_TRACES_H_
#define LOCKSTEP_TOOLS_ABANDONED_TRACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// The names of what was moved; a file without a record is removed. `step`: what
// is done already; below 0: nothing.
absl::StatusOr<std::vector<std::string>> SetAsideTraces(
    FileSystem& fs, const std::string& run_dir, int64_t step,
    int64_t generation);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_ABANDONED_TRACES_H_
