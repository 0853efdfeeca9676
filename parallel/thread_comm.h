// A communicator among threads of one process, and the threads to go with it.
//
// Runs the same trainer at any number of ranks without a launcher (`--ranks N`,
// tests, one GPU host), one rank included: there is no single-rank shortcut, so
// what tests run is what runs alone. Collectives work in place on the ranks'
// own memory, each rank reducing its share of the elements. Not quick for
// messages of a few bytes (two rendezvous each).

#ifndef PARALLEL_THREAD_COMM_H_
#define PARALLEL_THREAD_COMM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "parallel/communicator.h"

namespace lockstep {

struct ThreadCommOptions {
  // How long a rank waits for the others before it calls them lost.
  int64_t timeout_ms = 600'000;
};

// Communicators of ranks 0 to size - 1, to be given to a thread each. One that
// is destroyed has left: the others get RankLost at once, not after a timeout.
std::vector<std::unique_ptr<Communicator>> MakeThreadComms(
    int size, const ThreadCommOptions& options = {});

// Runs `body` as `size` ranks, each on a thread of its own under the float
// environment of N2, and waits for all. The error of the lowest failing rank,
// those that only lost their peers last.
absl::Status RunThreadRanks(
    int size, const std::function<absl::Status(Communicator&)>& body,
    const ThreadCommOptions& options = {});

}  // namespace lockstep

#endif  // PARALLEL_THREAD_COMM_H_
