// What a checkpoint's moments can be, by the betas that made them.
//
// What it is: every launch that may have had a part in them, of the run and of
// those it was forked from, and the bound that holds for all of their betas
// (ckpt/moment_bound.h); of a checkpoint alone, what its manifest says was
// allowed on the way there. What it is not: a guess: where one launch is not on
// record there is no bound, and it is said why. Why so: a run may be resumed
// with other betas, once that is allowed; the recipe of today alone does not
// say what moments of yesterday are made of.
#ifndef LOCKSTEP_TOOLS_MOMENT_HISTORY_H_
#define LOCKSTEP_TOOLS_MOMENT_HISTORY_H_

#include <optional>
#include <string>

#include "ckpt/moment_bound.h"
#include "determinism/file_system.h"

namespace lockstep {

struct MomentHistory {
  std::optional<MomentBound> bound = std::nullopt;
  std::string why_unbounded = {};  // one line, if there is no bound
};

// Of a checkpoint in its run's folder, in RUN/abandoned, or by itself. Reads
// the ledgers.
MomentHistory MomentHistoryOf(FileSystem& fs, const std::string& checkpoint);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_MOMENT_HISTORY_H_
