// Fills the registry of state from a checkpoint, to the bit or not at all.
//
// Every entry must be in the checkpoint with equal dtype and shape, and every
// tensor of the checkpoint must be an entry: nothing is converted, filled in or
// ignored. Each rank reads the boxes that it has from whatever boxes were
// saved, so a checkpoint loads on any layout. What was read is hashed on the
// way and fingerprinted again from the memory of all ranks together, against
// what the saver saw in its own. Not the runtime weights: the caller rebuilds
// them through the one conversion path and then asks CheckRuntimeFingerprint
// (N10).

#ifndef CKPT_LOAD_H_
#define CKPT_LOAD_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/moment_bound.h"
#include "determinism/file_system.h"
#include "determinism/state.h"

namespace lockstep {

class Communicator;

struct LoadOptions {
  // The ranks that load together, all of which get the same answer; null: the
  // registry has everything.
  Communicator* world = nullptr;
  // An object of the registry that may be on one side alone, as a whole: in the
  // checkpoint and not in the program, where it is left, or in the program and
  // not in the checkpoint, where its state stays as it is. Empty: none.
  std::string free_object = "";
  // What the betas that made the moments allow; absent: not looked at.
  std::optional<MomentBound> moments = std::nullopt;
};

// Whether the checkpoint has an entry of this object of the registry.
bool HasObject(const CheckpointIndex& index, const std::string& object);

// Checks names, types and shapes before it writes anything; after a later error
// the state is undefined until another load succeeds. NoUsableCheckpoint for
// damage and for entries that do not match (all of them are named).
absl::StatusOr<CheckpointIndex> LoadCheckpoint(
    FileSystem& file_system, const std::string& checkpoint_dir,
    const StateRegistry& registry, const LoadOptions& options = {});

// After the runtime weights were rebuilt: names each that is not what the saver
// had.
absl::Status CheckRuntimeFingerprint(const StateRegistry& registry,
                                     const CheckpointIndex& index,
                                     Communicator* world = nullptr);

}  // namespace lockstep

#endif  // CKPT_LOAD_H_
