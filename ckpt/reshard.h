// A checkpoint written down again as another layout would have saved it:
// `ckpt reshard`.
//
// Offline and streaming: shards are written one after the other in parts of a
// few megabytes, whatever the checkpoint's size; no model is loaded, nothing is
// converted. Which boxes a layout has is the caller's knowledge
// (model/state_boxes.h); here they only have to lie in their tensors and cover
// them. The result keeps step, run, ledger head, manifest and fingerprints, so
// whoever may load the one may load the other. Not part of a run: no lock is
// taken and no ledger written.

#ifndef CKPT_RESHARD_H_
#define CKPT_RESHARD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/box.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"

namespace lockstep {

struct RankBox {
  std::string tensor = {};  // its name in the index
  Box box = {};
};

struct ReshardRequest {
  std::string from = {};  // a checkpoint's folder
  std::string to = {};    // a folder that does not exist, with any name but
                          // that of another step
  // What each rank writes. A tensor that no rank names is the first one's.
  std::vector<std::vector<RankBox>> ranks = {};
};

struct ReshardedCheckpoint {
  CheckpointIndex index;
  uint64_t size_bytes = 0;  // of all files
};

// NoUsableCheckpoint where `from` does not verify, or its bytes are not what
// its fingerprints say. InputError where `to` stands already, or would lie in a
// run's or a checkpoint's folder. On any failure nothing stands under `to`.
absl::StatusOr<ReshardedCheckpoint> ReshardCheckpoint(
    FileSystem& file_system, const ReshardRequest& request);

}  // namespace lockstep

#endif  // CKPT_RESHARD_H_
