// The text of a checkpoint's index, from a folder and a file that are what they
// seem.
//
// What it is: index.json read whole. What it is not: parsed or checked. Why so:
// verify and load must refuse alike what may change under whoever has checked
// it, as a link may.
#ifndef LOCKSTEP_CKPT_INDEX_TEXT_H_
#define LOCKSTEP_CKPT_INDEX_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

// NotFound: no index. DataLoss: a step_N folder or an index.json that is a
// symbolic link, or an index too large to be one.
absl::StatusOr<std::string> ReadIndexText(FileSystem& file_system,
                                          const std::string& checkpoint_dir);

}  // namespace lockstep

#endif  // LOCKSTEP_CKPT_INDEX_TEXT_H_
