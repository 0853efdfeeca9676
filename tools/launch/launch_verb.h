// `lockstep launch RECIPE`: a job that goes on whatever happens to its hosts.
//
// What it is: the options, and what of them becomes a job's command. What it is
// not: the policy (launch_machine.h) or the processes (supervisor.h).
#ifndef LOCKSTEP_TOOLS_LAUNCH_LAUNCH_VERB_H_
#define LOCKSTEP_TOOLS_LAUNCH_LAUNCH_VERB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/verbs.h"

namespace lockstep {

struct LaunchOptions {
  // What `train` is called with; its ranks come from the hosts.
  TrainOptions train = {};
  std::string hosts = {};          // a file; empty: see np, else Slurm's
  std::optional<int64_t> np = {};  // ranks on this machine
  int64_t retries = 5;             // without a new checkpoint in between
  std::string mpirun = "mpirun";
  std::vector<std::string> mpirun_args = {};
};

// The exit code is the run's; it is not retried where that would not help.
absl::StatusOr<Answer> LaunchVerb(const LaunchOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_LAUNCH_VERB_H_
