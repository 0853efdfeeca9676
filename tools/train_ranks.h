// The ranks of a launch: threads of this process, or the processes of `mpirun`.
//
// What it is: how many there are, one call of a body for each that lives here,
// a watchdog on each, and the end of all when one of them is lost. What it is
// not: a layout, or a launcher. Why so: what a rank does must not depend on
// what it is; and a rank that hangs must not keep the job.
//
// A rank that learns that another one is lost leaves its last words in
// RUN/ranks/N.json; the process ends with 6. Under a launcher SIGTERM is such
// news: that is what mpirun sends to the others when one is killed.
#ifndef LOCKSTEP_TOOLS_TRAIN_RANKS_H_
#define LOCKSTEP_TOOLS_TRAIN_RANKS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/clock.h"
#include "parallel/communicator.h"
#include "parallel/watchdog.h"
#include "tools/last_words.h"

namespace lockstep {

struct RankOptions {
  int64_t ranks = 1;             // as threads; ignored under a launcher
  int64_t timeout_ms = 600'000;  // of a collective
  int64_t step_timeout_ms = 0;   // 0: a step may take any time
};

// One rank as the body sees it.
struct RankHandle {
  Communicator* world = nullptr;
  // The same ranks, for one more thread of each that saves in the background;
  // null where MPI takes calls from one thread only.
  Communicator* save_ranks = nullptr;
  bool two_threads = true;       // whether there is one
  Watchdog* watchdog = nullptr;  // null: one rank, and steps of any length
  int ranks_here = 1;            // that share this machine's cores
  bool first_here = true;        // of this process: takes its signals
  bool launched = false;         // one of several processes
  LastWordsFolder* last_words = nullptr;
};

// Runs `body` for each rank of this process and waits. The error of the lowest
// rank that has one of its own; RankLost after those. Does not return where a
// rank of this process hangs, or where other processes must be ended: then the
// error is printed and the process ends with its exit code; of an error that
// all processes have the first one tells. InputError for a number of ranks that
// cannot be.
absl::Status RunRanks(const RankOptions& options, Clock& clock,
                      const std::function<absl::Status(RankHandle&)>& body);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAIN_RANKS_H_
