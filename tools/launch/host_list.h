// Which hosts a launcher may use: a file's, Slurm's, or this one.
//
// What it is: names and slots in the order in which ranks are placed. What it
// is not: a look at whether they live (supervisor.h asks a probe). The file's
// format is `plan`'s (tools/plan/hosts.h).
#ifndef LOCKSTEP_TOOLS_LAUNCH_HOST_LIST_H_
#define LOCKSTEP_TOOLS_LAUNCH_HOST_LIST_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/launch_machine.h"

namespace lockstep {

// "n[01-03,7],login" as SLURM_JOB_NODELIST has it. InputError for what is none.
absl::StatusOr<std::vector<std::string>> ExpandNodeList(std::string_view list);

// Slots of each, of "2(x3),1" as SLURM_TASKS_PER_NODE has it.
absl::StatusOr<std::vector<LaunchHost>> SlurmHosts(
    std::string_view node_list, std::string_view tasks_per_node);

// The host of a rank, ranks filling the slots of one after the other; "" for a
// rank that none has.
std::string HostOfRank(const std::vector<LaunchHost>& hosts, int64_t rank);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_HOST_LIST_H_
