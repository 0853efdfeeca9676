// Which old checkpoints go, and when: after the new one is committed and reads
// back whole, and never the last good one.
//
// Only this run's folders count and only they are removed. Before one goes,
// those that stay in its stead are read in full: a folder that does not verify
// holds no place and is left for people to look at, until there are enough good
// ones after it. A folder is renamed before it is emptied, so a kill in between
// leaves no half-empty one under a final name.

#ifndef CKPT_RETENTION_H_
#define CKPT_RETENTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

class RunLock;

// An empty file of this name keeps a checkpoint for good:
// RUN/checkpoints/.pin-step_00000100. Whoever wants it gone removes the file.
std::string PinOf(const std::string& run_dir, const std::string& name);

struct RetentionOptions {
  std::string run_dir;
  std::string run_id;
  int64_t keep = 1;        // newest; at least 1
  int64_t keep_every = 0;  // steps; multiples of it stay for good; 0: none
  const RunLock* lock = nullptr;  // checked first; not owned
  // Called with what is about to go, if anything is: on record before it is
  // done, so that what is gone without a record was lost.
  std::function<absl::Status(const std::vector<std::string>&)> before_removal =
      nullptr;
};

struct RetentionReport {
  std::vector<std::string> removed;  // "step_00000100"
  std::vector<std::string> kept;
  std::vector<std::string> notes;  // what does not count, and why
};

// `committed_step` was just saved: it is read back in full, and if that fails
// nothing is removed and the error says what is damaged.
absl::StatusOr<RetentionReport> ApplyRetention(FileSystem& file_system,
                                               const RetentionOptions& options,
                                               int64_t committed_step);

}  // namespace lockstep

#endif  // CKPT_RETENTION_H_
