// What stopped a run at a step that has no line.
//
// What it is: the end of the ledger, where the numbers of a step refused it: a
// loss or gradient that is not finite, or a spike that is to stop the run. What
// it is not: any other end (a signal, a disk, a lost rank), which says nothing
// of a step. Why so: such a step was computed, so it can be done again and must
// be refused again, for the same reason.
#ifndef LOCKSTEP_TOOLS_RECORDED_STOP_H_
#define LOCKSTEP_TOOLS_RECORDED_STOP_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

struct RecordedStop {
  int64_t step = 0;      // that was refused; 0: none was
  std::string why = {};  // what and where, without what to do
};

// ManifestMismatch for a damaged ledger. A run without one was not stopped.
absl::StatusOr<RecordedStop> ReadRecordedStop(FileSystem& fs,
                                              const std::string& run_dir);

// What and where of a status' message.
std::string WhyStopped(const absl::Status& status);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RECORDED_STOP_H_
