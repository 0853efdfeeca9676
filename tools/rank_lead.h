// How the first rank, which alone has the run's folder, leads the others.
//
// What it is: what all ranks must do together while a run is opened or saved
// (draw weights, load a checkpoint, fingerprint the state, write shards), said
// by the first rank and done by all: RankLead on it, FollowLead on the others.
// What it is not: the step, whose collectives every rank comes to by itself.
// Why so: which of these happens follows from files that only one rank reads;
// were each rank to decide for itself, two could decide differently and wait
// for each other for ever. With one rank nothing is said to anybody.
#ifndef LOCKSTEP_TOOLS_RANK_LEAD_H_
#define LOCKSTEP_TOOLS_RANK_LEAD_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/save.h"
#include "determinism/file_system.h"
#include "tools/state_by_group.h"
#include "tools/stepper.h"

namespace lockstep {

class RankLead {
 public:
  // Of the first rank. Both borrowed.
  RankLead(FileSystem& fs, Stepper& stepper) : fs_(fs), stepper_(stepper) {}

  // A fresh start.
  absl::Status Initialise();
  // All registered state of a checkpoint, poisoned before, and the weights made
  // from it and compared (N10); `notes` says what could not be checked.
  absl::StatusOr<CheckpointIndex> Load(const std::string& checkpoint_dir,
                                       std::vector<std::string>& notes);
  absl::Status TakeSeed();
  absl::StatusOr<std::string> StateField();
  absl::StatusOr<StateByGroup> StateOfGroups();
  absl::StatusOr<SavedCheckpoint> Save(SaveOptions options);
  // The others pass over what this rank's stepper passes over.
  absl::Status ShareSkips();
  // Lets the others go, with what became of it all.
  absl::Status End(const absl::Status& mine);

 private:
  absl::Status Say(const std::string& what, const std::string& text = "");

  FileSystem& fs_;
  Stepper& stepper_;
};

// On the other ranks: does what the first one says until it ends, and returns
// the status that it ended with.
absl::Status FollowLead(FileSystem& fs, Stepper& stepper);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RANK_LEAD_H_
