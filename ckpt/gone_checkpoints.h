// Checkpoints that a run's ledger has and its folder no longer.
//
// What it is: the ledger's `checkpoint` events, less what its later events
// removed, held against the folder. What it is not: whether one that is there
// holds (verify.h). Why so: a folder that was lost as a whole leaves nothing
// behind that could be found damaged; only the ledger knows of it.
#ifndef LOCKSTEP_CKPT_GONE_CHECKPOINTS_H_
#define LOCKSTEP_CKPT_GONE_CHECKPOINTS_H_

#include <string>
#include <vector>

#include "ckpt/ledger.h"
#include "determinism/file_system.h"

namespace lockstep {

// Their names, by step. One that was set aside (RUN/abandoned) is not gone, nor
// is one that retention took, that a resume from an earlier step left behind,
// or of which a `checkpoint_skipped` says already that it is gone.
std::vector<std::string> GoneCheckpoints(
    FileSystem& file_system, const std::string& run_dir,
    const std::vector<LedgerEntry>& entries);

}  // namespace lockstep

#endif  // LOCKSTEP_CKPT_GONE_CHECKPOINTS_H_
