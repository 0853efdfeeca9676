// The fingerprint of all state, group by group.
//
// What it is: what a resume writes down of the state that was saved and of the
// one that it restored: one field a group (determinism/state.h), run-time
// weights among them, and `state` over all that is saved. What it is not: the
// check, which the load makes entry by entry (ckpt/load_check.h). Why so: who
// reads a ledger years later has no checkpoint left to ask, and wants to know
// of streams, counters and cursor apart.
#ifndef LOCKSTEP_TOOLS_STATE_BY_GROUP_H_
#define LOCKSTEP_TOOLS_STATE_BY_GROUP_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/ledger.h"
#include "determinism/state.h"
#include "parallel/communicator.h"

namespace lockstep {

struct StateByGroup {
  std::string state = {};  // over all saved groups
  std::map<std::string, std::string> groups =
      {};  // by name, those with entries
};

// Of all ranks' registries. Collective.
absl::StatusOr<StateByGroup> FingerprintByGroup(Communicator& world,
                                                const StateRegistry& registry);

// As a checkpoint's index has it from the saver's memory.
StateByGroup SavedByGroup(const CheckpointIndex& index);

// `fingerprints_saved` and `fingerprints_restored`, an object each.
void AddFingerprints(const CheckpointIndex& saved, const StateByGroup& restored,
                     LedgerFields& fields);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STATE_BY_GROUP_H_
