#include "tools/launch/mpirun_command.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lockstep {

std::string ResizeJson(const LaunchAction& start) {
  const nlohmann::ordered_json json = {
      {"reason", start.resize ? start.resize->reason : start.message},
      {"waited_ms", start.resize ? start.resize->waited_ms : 0},
      {"idle", start.idle}};
  return json.dump();
}

std::vector<std::string> MpirunCommand(const LaunchOptions& options,
                                       const std::string& program,
                                       const std::string& run_dir,
                                       const LaunchAction& start,
                                       bool another_layout) {
  std::vector<std::string> argv = {options.mpirun};
  if (geteuid() == 0) argv.push_back("--allow-run-as-root");
  argv.insert(argv.end(), options.mpirun_args.begin(),
              options.mpirun_args.end());
  if (options.np) {
    argv.insert(argv.end(), {"--oversubscribe", "--bind-to", "none"});
  } else {
    std::vector<std::string> hosts;
    for (const LaunchHost& host : start.hosts) {
      hosts.push_back(absl::StrCat(host.name, ":", host.slots));
    }
    argv.insert(argv.end(), {"--host", absl::StrJoin(hosts, ",")});
  }
  argv.insert(argv.end(), {"-x", "LOCKSTEP_ATTEMPT"});
  if (another_layout) argv.insert(argv.end(), {"-x", "LOCKSTEP_RESIZE"});
  const TrainOptions& t = options.train;
  argv.insert(argv.end(), {"-np", std::to_string(start.layout.world()), program,
                           "train", t.recipe, "--run", run_dir});
  for (const std::string& set : t.sets) {
    argv.insert(argv.end(), {"--set", set});
  }
  for (const std::string& fault : t.faults) {
    argv.insert(argv.end(), {"--fault", fault});
  }
  std::vector<std::string> allow = t.allow;
  std::string reason = t.reason;
  if (another_layout) {
    allow.insert(allow.end(),
                 {"layout", "batch.global", "schedule.length_samples",
                  "schedule.warmup_samples", "schedule.decay_samples"});
    if (reason.empty()) reason = start.message;
  }
  if (!allow.empty()) {
    argv.insert(argv.end(), {"--allow", absl::StrJoin(allow, ",")});
  }
  if (!reason.empty()) argv.push_back("--reason=" + reason);
  const auto number = [&argv](const char* name, int64_t value) {
    argv.insert(argv.end(), {name, std::to_string(value)});
  };
  if (t.until) number("--until", *t.until);
  if (t.threads != 0) number("--threads", t.threads);
  if (t.rank_timeout_s != 0) number("--rank-timeout", t.rank_timeout_s);
  if (t.step_timeout_s != 0) number("--step-timeout", t.step_timeout_s);
  if (t.json) argv.push_back("--json");
  if (t.quiet) argv.push_back("--quiet");
  return argv;
}

}  // namespace lockstep
