// The error of a rank that is gone or silent, with the ranks it is about.
//
// What it is: RankLost of determinism/status.h, plus the rank numbers in a form
// that a program can read back (RUN/ranks/N.json names them). What it is not: a
// decision what to do; see watchdog.h. Why so: a sentence is for people, and
// nothing should parse it.

#ifndef PARALLEL_RANK_LOST_H_
#define PARALLEL_RANK_LOST_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace lockstep {

// "rank 2, rank 5 <how>"; Unavailable, so that the exit code is 6.
absl::Status RanksLost(std::span<const int> world_ranks, std::string_view how,
                       std::string_view where);

// The ranks of the above, ascending; empty for any other status.
std::vector<int> LostRanksOf(const absl::Status& status);

}  // namespace lockstep

#endif  // PARALLEL_RANK_LOST_H_
