// Whether live state is what a checkpoint holds, byte by byte.
//
// For whoever has made a state again and must know that it is the saved one:
// fingerprints find accidents, bytes leave nothing to find. Reads the
// checkpoint in parts, and of it the boxes that the registry has: ranks that
// share a state ask each for itself. Not a load; that the bytes are what their
// index says is another question (CheckpointReader::CheckFingerprints).

#ifndef CKPT_DIFF_STATE_H_
#define CKPT_DIFF_STATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/diff.h"
#include "ckpt/tensor_parts.h"
#include "determinism/state.h"

namespace lockstep {

// A is the checkpoint, B the registry; sorted by name, empty where all saved
// entries are equal to the bit. `saved` is read by one thread at a time.
absl::StatusOr<std::vector<TensorDifference>> DiffState(
    CheckpointReader& saved, const StateRegistry& registry);

}  // namespace lockstep

#endif  // CKPT_DIFF_STATE_H_
