// The files of a checkpoint against its index, each byte. Inside ckpt only.
//
// What it is: hashes of headers, manifest and boxes, and that the header of a
// shard says of each box what the index says. What it is not: the index itself
// (index_read.cc), or what the bytes mean (verify_content.h).

#ifndef CKPT_VERIFY_FILES_H_
#define CKPT_VERIFY_FILES_H_

#include <string>
#include <vector>

#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/file_system.h"

namespace lockstep {

// Adds what is not as the index says, or cannot be read, file by file.
void VerifyFiles(FileSystem& file_system, const std::string& dir,
                 const CheckpointIndex& index, std::vector<Damage>& damage);

}  // namespace lockstep

#endif  // CKPT_VERIFY_FILES_H_
