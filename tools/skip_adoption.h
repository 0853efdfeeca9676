// How a run comes to pass over samples: asked for once, on record for good.
//
// What it is: `--skip-samples` of a launch, the ledger's `skip_list` events and
// the stepper's list brought together. What it is not: the list (skip_list.h).
// Why so: a trainer that is killed before its next checkpoint has adopted a
// range that no checkpoint knows of; the ledger knows, so whoever goes on, or
// does a step again, from whatever checkpoint, reads the same samples without
// being told again.
#ifndef LOCKSTEP_TOOLS_SKIP_ADOPTION_H_
#define LOCKSTEP_TOOLS_SKIP_ADOPTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/ledger.h"
#include "tools/run_folder.h"
#include "tools/skip_list.h"
#include "tools/stepper.h"

namespace lockstep {

// The ranges that the folder's present run has adopted, in that order. They
// belong to the run and not to a launch of it: a trainer that was killed before
// its first checkpoint begins again at step 1, by another `launch` with the
// same run_id, and has them; only a fresh start that was asked for (`--resume
// never`), which makes another run, has none. ManifestMismatch for an event
// without its numbers.
absl::StatusOr<std::vector<SkipRange>> RecordedSkips(
    const std::vector<LedgerEntry>& entries);

// Adopts `asked` where the stepper stands and records it; a range with the same
// ends that was adopted before, and acts as early, is left as it is. Ranges
// that only the ledger knows are planned in the stepper, and ranges that only
// the restored state knows (a fork's) are recorded. Returns what a person
// should know, a line a range, and one if a fresh start left ranges behind.
// InputError, and nothing is adopted, if they leave fewer samples than the run
// still needs.
absl::StatusOr<std::vector<std::string>> AdoptSkips(
    const std::vector<SkipRange>& asked, RunFolder& folder, Stepper& stepper);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_SKIP_ADOPTION_H_
