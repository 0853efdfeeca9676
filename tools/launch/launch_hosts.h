// Which of the hosts a job gets, and what is left over. Of the machine alone.
#ifndef LOCKSTEP_TOOLS_LAUNCH_LAUNCH_HOSTS_H_
#define LOCKSTEP_TOOLS_LAUNCH_LAUNCH_HOSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/launch/launch_machine.h"

namespace lockstep {

inline constexpr int kLaunchRankLost = 6;  // the exit code

int64_t SlotsIn(const std::vector<LaunchHost>& hosts);

// The first that are enough, those that are no spares before those that are.
std::vector<LaunchHost> Chosen(const std::vector<LaunchHost>& hosts,
                               int64_t world);

// What `world` ranks on `chosen` leave free of `all`, for people.
std::vector<std::string> IdleOf(const std::vector<LaunchHost>& chosen,
                                const std::vector<LaunchHost>& all,
                                int64_t world);

// The multiple of `replicas`, at least one, that is nearest to `micro_batches`;
// the lower of two.
int64_t NearestShared(int64_t micro_batches, int64_t replicas);

// For people: these hosts are too few, and for how long others are waited for.
std::string WaitsFor(const std::vector<LaunchHost>& hosts, int64_t world,
                     int64_t most_ms);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_LAUNCH_HOSTS_H_
