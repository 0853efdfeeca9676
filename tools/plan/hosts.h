// The hosts that ranks are spread over, and those that are lost.
//
// What it is: names and numbers of ranks in the order in which a launcher fills
// them, from a file or as so many alike. What it is not: a launcher, or a look
// at the network. Why so: which axis of a layout crosses hosts follows from
// this order and the mesh's (parallel/mesh.h) alone.
#ifndef LOCKSTEP_TOOLS_PLAN_HOSTS_H_
#define LOCKSTEP_TOOLS_PLAN_HOSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"

namespace lockstep {

struct Host {
  std::string name;
  int64_t slots = 1;  // ranks that it takes
};

// A host a line as Open MPI's hostfiles have them, "NAME slots=N"; without
// slots it takes one rank; # begins a comment. InputError, by file and line,
// for anything else, a name twice, or no host at all.
absl::StatusOr<std::vector<Host>> ReadHosts(FileSystem& fs,
                                            const std::string& path);

// "host0", "host1", ... for `world` ranks, the last one maybe with fewer.
std::vector<Host> EvenHosts(int64_t world, int64_t ranks_per_host);

// Without those named in `lost`. InputError for a name that no host has, with
// the nearest that one has.
absl::StatusOr<std::vector<Host>> WithoutHosts(
    std::vector<Host> hosts, const std::vector<std::string>& lost);

int64_t SlotsOf(const std::vector<Host>& hosts);

// The host of each of `ranks` ranks, as an index into `hosts`.
std::vector<int> HostOfRanks(const std::vector<Host>& hosts, int64_t ranks);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_PLAN_HOSTS_H_
