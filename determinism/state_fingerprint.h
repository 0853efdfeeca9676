// Fingerprints of registered state, of which some are known already.
//
// What it is: StateTensorFingerprints (state.h) for a caller who took some of
// them where the state was written, while it was in cache. What it is not: a
// cache: whoever knows a fingerprint answers for it until the state moves, and
// tells of it once. Why so: reading all state again costs more than its
// fingerprint (N11).

#ifndef DETERMINISM_STATE_FINGERPRINT_H_
#define DETERMINISM_STATE_FINGERPRINT_H_

#include <map>
#include <string>
#include <vector>

#include "determinism/fingerprint.h"
#include "determinism/state.h"

namespace lockstep {

// By entry ("<object>/<entry>"): of all boxes of it that this rank counts.
using KnownFingerprints = std::map<std::string, Fingerprint>;

std::vector<TensorFingerprint> StateTensorFingerprints(
    const StateRegistry& registry, StateGroupSet groups,
    const KnownFingerprints& known);

}  // namespace lockstep

#endif  // DETERMINISM_STATE_FINGERPRINT_H_
