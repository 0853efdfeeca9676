// The highest generation that a run's folder has seen, whatever became of
// RUN/lock.
//
// What it is: the largest number among the files of launches/ and those that
// the ledger's events name. What it is not: the lock's own count
// (run_lock.h). Why so: somebody may delete the lock file, and a generation
// that came back would name a launch's manifest and a stale trainer twice.
#ifndef LOCKSTEP_CKPT_LAST_GENERATION_H_
#define LOCKSTEP_CKPT_LAST_GENERATION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// 0: none. A damaged ledger counts for nothing here: whoever opens it says so.
absl::StatusOr<int64_t> LastGenerationSeen(FileSystem& file_system,
                                           const std::string& run_dir);

}  // namespace lockstep

#endif  // LOCKSTEP_CKPT_LAST_GENERATION_H_
