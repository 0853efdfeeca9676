// What `ckpt verify` asks of one checkpoint beyond its hashes.
//
// What it is: the fingerprints of all tensors, taken from the bytes of the
// files and held against what the saver saw in its memory; that index and
// manifest are of one run; and that the folder has no file that the index does
// not name. What it is not: the question
// whether a load may use it (verify.h): a load takes fingerprints itself, and a
// foreign file beside the others harms nobody. Why so: hashes over bytes that
// were already wrong hold, and whoever asks on purpose has the time for a
// second reading.

#ifndef CKPT_VERIFY_CONTENT_H_
#define CKPT_VERIFY_CONTENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "ckpt/verify.h"
#include "determinism/file_system.h"

namespace lockstep {

// VerifyCheckpoint, and that. Fingerprints only where all hashes hold.
absl::StatusOr<VerifyResult> VerifyContent(FileSystem& file_system,
                                           const std::string& checkpoint_dir);

}  // namespace lockstep

#endif  // CKPT_VERIFY_CONTENT_H_
