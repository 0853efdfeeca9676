// Writes the state down as a checkpoint: complete or absent.
//
// All of a checkpoint is written and synced under a temporary name, then the
// folder is renamed and its parent synced: at no moment does a half-written
// folder stand under a final name, and a folder that stood there before is set
// aside first and removed last, so one good copy exists throughout. FORMAT.md
// has the protocol, step by step, with the name of each fault point. Not the
// policy of when to save or what to delete (retention.h).

#ifndef CKPT_SAVE_H_
#define CKPT_SAVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"
#include "determinism/state.h"

namespace lockstep {

class Communicator;
class RunLock;
struct Snapshot;

struct SaveOptions {
  std::string run_dir;
  int64_t step = 0;
  std::string run_id;
  std::string manifest_json;  // ManifestToJson
  std::string ledger_head;
  const RunLock* lock = nullptr;  // checked before the commit; not owned
  // Of the ranks that save together, this one the first; the others are in
  // JoinSave. Null: the registry has everything. Not owned.
  Communicator* world = nullptr;
};

struct SavedCheckpoint {
  std::string dir;
  CheckpointIndex index;
  uint64_t size_bytes = 0;  // all files
};

// NumericFailure, with tensor and element, for a master or moment that is not
// finite: such a state is never written (and so never rotates a good one out).
// ResourceExhausted says how many bytes are missing. On any failure the earlier
// checkpoints are untouched and the temporary folder is removed if it can be.
absl::StatusOr<SavedCheckpoint> SaveCheckpoint(FileSystem& file_system,
                                               const SaveOptions& options,
                                               const StateRegistry& registry);

// The part of the other ranks: a shard of their own boxes, in the folder that
// the first rank has made. The same answer on all.
absl::Status JoinSave(FileSystem& file_system, Communicator& world,
                      const StateRegistry& registry);

// The same two of a state that was copied (snapshot.h), and moves on.
absl::StatusOr<SavedCheckpoint> SaveSnapshot(FileSystem& file_system,
                                             const SaveOptions& options,
                                             Snapshot& snapshot);
absl::Status JoinSnapshot(FileSystem& file_system, Communicator& world,
                          Snapshot& snapshot);

// Once, when a run is opened under its lock: removes what killed saves and
// deletions have left, and puts back a checkpoint that was set aside for a
// replacement that never came. Returns what it did, a line each.
absl::StatusOr<std::vector<std::string>> CleanLeftovers(
    FileSystem& file_system, const std::string& run_dir);

// A resume from `step` abandons the checkpoints above it: they move to
// RUN/abandoned/GENERATION/, so that no later search takes the run back to a
// future it left. Pass -1 for a fresh start. Returns their names.
absl::StatusOr<std::vector<std::string>> SetAsideCheckpointsAbove(
    FileSystem& file_system, const std::string& run_dir, int64_t step,
    int64_t generation);

}  // namespace lockstep

#endif  // CKPT_SAVE_H_
