// Whether memory holds now what the saver's memory held. Inside ckpt only.

#ifndef CKPT_LOAD_CHECK_H_
#define CKPT_LOAD_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/load_look.h"
#include "ckpt/save_ranks.h"
#include "determinism/state.h"

namespace lockstep {

// Of all ranks together: every fingerprint, and that each number is one that
// training can have made; `looked_at` is this rank's. NoUsableCheckpoint names
// what is not so. What one side alone has is of the free object (load.h).
absl::Status CheckLoaded(const StateRegistry& registry,
                         const CheckpointIndex& index, const std::string& dir,
                         LookedAt looked_at, SaveRanks ranks);

}  // namespace lockstep

#endif  // CKPT_LOAD_CHECK_H_
