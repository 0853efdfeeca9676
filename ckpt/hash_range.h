// Hashes bytes of a file, the next piece read meanwhile. Inside ckpt only.

#ifndef CKPT_HASH_RANGE_H_
#define CKPT_HASH_RANGE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "determinism/file_system.h"
#include "determinism/sha256.h"

namespace lockstep {

// Adds bytes [from, to) of the file, which has them.
absl::Status HashRange(const RandomAccessFile& file, uint64_t from, uint64_t to,
                       Sha256& sha256);

}  // namespace lockstep

#endif  // CKPT_HASH_RANGE_H_
