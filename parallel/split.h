// Who is in which group after a Split; the same for all transports.
//
// What it is: the exchange of colours and keys, and the order that follows from
// them. What it is not: the new communicator. Private to the transports.

#ifndef PARALLEL_SPLIT_H_
#define PARALLEL_SPLIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "parallel/communicator.h"

namespace lockstep {

struct SplitGroup {
  std::vector<int> members;      // ranks of the parent, by (key, rank)
  std::vector<int> world_ranks;  // the same, as in the world
  int rank = 0;                  // this rank's place in it
};

// Collective over `parent`.
absl::StatusOr<SplitGroup> AgreeOnSplit(Communicator& parent, int color,
                                        int key);

}  // namespace lockstep

#endif  // PARALLEL_SPLIT_H_
