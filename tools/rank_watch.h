// One rank of a launch under a watchdog, and the ways in which it ends early.
//
// What it is: the last words of a rank whose peers are lost, or that is told to
// end. What it is not: the ranks (train_ranks.h), which alone use it.
#ifndef LOCKSTEP_TOOLS_RANK_WATCH_H_
#define LOCKSTEP_TOOLS_RANK_WATCH_H_

#include <chrono>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "determinism/clock.h"
#include "parallel/communicator.h"
#include "tools/train_ranks.h"

namespace lockstep {

// How long survivors have for their last words.
constexpr std::chrono::seconds kLinger{2};

// Prints the error and ends this process with its exit code.
[[noreturn]] void EndProcess(const absl::Status& status);

// Runs the body with `inner` as its world, under a watchdog if there are
// several ranks. The watchdog fires on the rank's own thread where a collective
// gave up, and the error goes up the usual way; it fires on its own thread
// where the rank is stuck and cannot be told anything.
absl::Status RunWatched(std::unique_ptr<Communicator> inner, RankHandle handle,
                        const RankOptions& options, Clock& clock,
                        const std::function<absl::Status(RankHandle&)>& body);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RANK_WATCH_H_
