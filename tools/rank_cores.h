// Which cores of this process a rank's threads stand on.
#ifndef LOCKSTEP_TOOLS_RANK_CORES_H_
#define LOCKSTEP_TOOLS_RANK_CORES_H_

#include "absl/status/status.h"

namespace lockstep {

// Puts the calling thread, and those that it starts from now on, on the
// `place`-th of `places` equal parts of the cores that the process may use.
// InputError with fewer cores than places.
absl::Status StandOnCores(int place, int places);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RANK_CORES_H_
