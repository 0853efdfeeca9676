// Room on the disk for a checkpoint. Inside ckpt only.
//
// What it is: the question before a save, and where the answer is no, what in
// the run's folder may be deleted and what must not. What it is not: a
// deletion: a save needs room beside the last good checkpoint, and retention
// (retention.h) has already taken what the recipe lets go. Why so: a run that
// keeps one checkpoint on a full disk refuses every save, and whoever comes to
// help deletes the wrong folder.

#ifndef CKPT_DISK_SPACE_H_
#define CKPT_DISK_SPACE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "determinism/file_system.h"

namespace lockstep {

// ResourceExhausted says how many bytes are missing and what may go.
absl::Status CheckSpace(FileSystem& file_system, const std::string& run_dir,
                        uint64_t needed_bytes);

}  // namespace lockstep

#endif  // CKPT_DISK_SPACE_H_
