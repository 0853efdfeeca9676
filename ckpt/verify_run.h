// Does everything hold that a run keeps about itself: `ckpt verify RUN`.
//
// The chain of the ledger, the seals of all manifests, every byte of every
// checkpoint, that each launch's manifest is there which the ledger names, and
// that the ledger still has each head that ledger_head, a manifest or a
// checkpoint remembers: a ledger whose end was cut off cleanly is whole in
// itself, and only they know. The same of a checkpoint that is gone as a whole:
// the ledger has it; and of one that no line tells of (ledger_traces.h), unless
// a `lost_lines` event has that on record. Reads only. Not the data of the run
// (`data verify`), and no steps are done again (`verify`).

#ifndef CKPT_VERIFY_RUN_H_
#define CKPT_VERIFY_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/verify.h"
#include "determinism/file_system.h"

namespace lockstep {

struct RunVerifyResult {
  bool ok = false;
  std::vector<Damage> damage;  // files below the run's folder
  std::vector<int64_t> steps;  // of the checkpoints that were read
  int64_t ledger_lines = 0;
  int64_t manifests = 0;
};

// What cannot be read, for whatever reason, is damage, and all else is still
// verified; so is a checkpoint of another run, which no resume takes.
absl::StatusOr<RunVerifyResult> VerifyRun(FileSystem& file_system,
                                          const std::string& run_dir);

// {"ok", "steps", "ledger_lines", "manifests", "damage": as of a checkpoint}
std::string RunVerifyResultToJson(const RunVerifyResult& result);

}  // namespace lockstep

#endif  // CKPT_VERIFY_RUN_H_
