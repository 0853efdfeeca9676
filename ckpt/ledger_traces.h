// What else in a run's folder remembers lines that its ledger no longer has.
//
// What it is: the manifests of launches, each with the ledger's head of its
// time, and checkpoints of which a line must tell. What it is not: the newest
// head (ledger_head.h), or the head in a checkpoint, without which no resume
// takes it (Ledger::CheckHolds). Why so: a ledger that was cut off cleanly,
// together with ledger_head, is sound in itself.
#ifndef LOCKSTEP_CKPT_LEDGER_TRACES_H_
#define LOCKSTEP_CKPT_LEDGER_TRACES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/ledger.h"
#include "determinism/file_system.h"

namespace lockstep {

// "launches/launch_00000001.json": the manifests that launches have kept.
// None is no error.
absl::StatusOr<std::vector<std::string>> LaunchFiles(
    FileSystem& file_system, const std::string& run_dir);

// A sentence each, without those that a `lost_lines` event has in its `traces`.
// A checkpoint needs a line, of its save or of a resume from it, unless it is
// the newest: a kill may come between the commit and the line. Where somebody
// is at work these may be lines that were written since `entries` were read.
// What cannot be read is no trace.
std::vector<std::string> TracesOfLostLines(
    FileSystem& file_system, const std::string& run_dir,
    const std::vector<LedgerEntry>& entries);

}  // namespace lockstep

#endif  // LOCKSTEP_CKPT_LEDGER_TRACES_H_
