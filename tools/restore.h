// Puts a stepper where a checkpoint left off.
//
// What it is: all registered state, poisoned before, loaded and held against
// what its betas allow (moment_history.h), the run-time weights made from it
// and compared (N10). What it is not: the choice of the
// checkpoint (ckpt/find.h), or whether recipe and manifest agree. Why so:
// train, replay and evaluation must all come to the same state.
#ifndef LOCKSTEP_TOOLS_RESTORE_H_
#define LOCKSTEP_TOOLS_RESTORE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/checkpoint_index.h"
#include "determinism/file_system.h"
#include "tools/stepper.h"

namespace lockstep {

// Collective over `world`; null: the stepper has everything. Where the run was
// saved on another rung of the guarantee, the exponents of gradients (N5),
// which `layout_invariant` alone has, may be missing, and are then found by the
// next step's probe, or may have no place. `notes`, if given, gets what could
// not be checked. Errors of LoadCheckpoint and CheckRuntimeFingerprint.
absl::StatusOr<CheckpointIndex> RestoreStepper(
    FileSystem& fs, Stepper& stepper, const std::string& checkpoint,
    Communicator* world = nullptr, std::vector<std::string>* notes = nullptr);

// What such an error says without its place and what to do, which are for a
// checkpoint that was asked for by name: why it was passed over
// (ResumeRequest::unfit).
std::string WhyUnfit(const absl::Status& load);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RESTORE_H_
