// Whether memory holds now what the saver's memory held. Inside ckpt only.

#ifndef CKPT_LOAD_CHECK_H_
#define CKPT_LOAD_CHECK_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/moment_bound.h"
#include "ckpt/save_ranks.h"
#include "determinism/state.h"

namespace lockstep {

// Of all ranks together: every fingerprint, and that each number is one that
// training can have made, moments with `bound` if it is there.
// NoUsableCheckpoint names what is not so. What one side alone has is of the
// free object (load.h).
absl::Status CheckLoaded(const StateRegistry& registry,
                         const CheckpointIndex& index, const std::string& dir,
                         const std::optional<MomentBound>& bound,
                         SaveRanks ranks);

}  // namespace lockstep

#endif  // CKPT_LOAD_CHECK_H_
