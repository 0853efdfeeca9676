// Does a checkpoint fit this program's state? Inside ckpt only.

#ifndef CKPT_LOAD_MATCH_H_
#define CKPT_LOAD_MATCH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/state_entries.h"

namespace lockstep {

// Null if there is none.
const IndexTensor* FindTensor(const CheckpointIndex& index,
                              const std::string& name);

// Names, kinds, types and shapes, both ways; NoUsableCheckpoint names
// every entry that does not match, and `where` the checkpoint. The entries of
// `free_object` (load.h) may all be on one side alone.
absl::Status CheckMatch(const std::vector<StateEntry>& entries,
                        const CheckpointIndex& index, const std::string& where,
                        const std::string& free_object = "");

}  // namespace lockstep

#endif  // CKPT_LOAD_MATCH_H_
