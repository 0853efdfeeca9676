// What `status` tells of RUN/ranks: the last words of ranks.
//
// What it is: the files as they are, and whether each was written before the
// last launch began. What it is not: who is alive (status_lock.cc). Why so:
// last words are kept, since they say why a launch ended, but a run that went
// on after them is whole.
#ifndef LOCKSTEP_TOOLS_STATUS_RANKS_H_
#define LOCKSTEP_TOOLS_STATUS_RANKS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "determinism/file_system.h"

namespace lockstep {

// By rank; an object of an earlier launch has `earlier_launch`: true, also one
// that was written late, by a rank that was cut off from its job: it names
// another attempt of `launch`. `started_ms` (since the epoch) and `attempt`
// (empty: not known) are the last launch's.
nlohmann::ordered_json LastWordsOf(FileSystem& fs, const std::string& run_dir,
                                   int64_t started_ms,
                                   const std::string& attempt);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STATUS_RANKS_H_
