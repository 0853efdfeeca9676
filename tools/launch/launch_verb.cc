#include "tools/launch/launch_verb.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ckpt/run_lock.h"
#include "determinism/clock.h"
#include "determinism/status.h"
#include "tools/launch/host_list.h"
#include "tools/launch/mpirun_command.h"
#include "tools/launch/program_path.h"
#include "tools/launch/supervisor.h"
#include "tools/plan/hosts.h"
#include "tools/run_setup.h"
#include "tools/watchdog_config.h"

namespace lockstep {
namespace {

constexpr char kThisHost[] = "localhost";
// A rank that lost its job ends at the rank timeout, and a file system takes
// locks from a silent host after a minute or two.
constexpr int64_t kHeldGraceMs = 180'000;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<std::vector<LaunchHost>> ListHosts(FileSystem& fs,
                                                  const LaunchOptions& options,
                                                  const RunConfig& config) {
  std::vector<LaunchHost> hosts;
  if (!options.hosts.empty()) {
    LS_ASSIGN_OR_RETURN(const auto listed, ReadHosts(fs, options.hosts));
    for (const Host& host : listed) {
      hosts.push_back({.name = host.name, .slots = host.slots});
    }
  } else if (options.np) {
    return std::vector<LaunchHost>{{.name = kThisHost, .slots = *options.np}};
  } else if (const std::string nodes = Variable("SLURM_JOB_NODELIST");
             !nodes.empty()) {
    LS_ASSIGN_OR_RETURN(hosts,
                        SlurmHosts(nodes, Variable("SLURM_TASKS_PER_NODE")));
  } else {
    return InputError("no hosts are named", options.train.recipe,
                      "give --hosts FILE or --np N, or call it in a job of "
                      "Slurm");
  }
  const std::set<std::string> spares =
      absl::StrSplit(config.elastic.spares, ',', absl::SkipEmpty());
  for (LaunchHost& host : hosts) host.spare = spares.contains(host.name);
  return hosts;
}

// The layout of the recipe; a data degree that it leaves open is what the hosts
// that are no spares are enough for.
absl::StatusOr<LaunchLayout> Wanted(const RunConfig& config,
                                    const std::vector<LaunchHost>& hosts,
                                    const std::string& where) {
  const ParallelConfig& p = config.parallel;
  LaunchLayout layout = {
      .tensor = p.tensor,
      .pipeline = p.pipeline,
      .micro_batches = config.batch.global / config.batch.micro};
  int64_t slots = 0;
  for (const LaunchHost& host : hosts) slots += host.spare ? 0 : host.slots;
  const int64_t replica = p.tensor * p.pipeline;
  if (!p.data && slots < replica) {
    return InputError(absl::StrCat("the hosts take ", slots,
                                   " rank(s), and one replica has ", replica),
                      where, "give more hosts, or a smaller layout");
  }
  layout.data = p.data.value_or(slots / replica);
  return layout;
}

std::string HolderOf(FileSystem& fs, const std::string& run_dir) {
  const std::string path = JoinPath(run_dir, "lock");
  if (!fs.Exists(path)) return "";
  const auto held = PosixFileLocker()->TryLock(path);
  return held.ok() && *held == nullptr ? "a trainer of the job before" : "";
}

ElasticBatch BatchOf(const std::string& name) {
  if (name == "nearest") return ElasticBatch::kNearest;
  return name == "refuse" ? ElasticBatch::kRefuse : ElasticBatch::kKeep;
}

std::vector<std::string> SetsFor(const LaunchLayout& layout,
                                 const RunConfig& config) {
  std::vector<std::string> sets = {absl::StrCat("parallel.data=", layout.data)};
  if (layout.micro_batches != config.batch.global / config.batch.micro) {
    sets.push_back(absl::StrCat("batch.global=",
                                layout.micro_batches * config.batch.micro));
  }
  return sets;
}

absl::StatusOr<Answer> AnswerOf(const LaunchResult& result,
                                const std::string& where) {
  const std::string what =
      absl::StrCat(result.message.empty()
                       ? absl::StrCat("the job ended with ", result.exit_code)
                       : result.message,
                   " (", result.attempts, " attempt(s))");
  constexpr char kTodo[] = "what the ranks said is above";
  switch (result.exit_code) {
    case 0:
      return Answer{""};
    case 2:
      return InputError(what, where, kTodo);
    case 3:
      return ManifestMismatch(what, where, kTodo);
    case 4:
      return NoUsableCheckpoint(what, where, kTodo);
    case 5:
      return NumericFailure(what, where, kTodo);
    case 6:
      return RankLost(what, where,
                      "see to the hosts, and run the same command again");
    case 8:
      return StoppedOnRequest(what, where,
                              "run the same command again to go on");
    default:
      return IoError(what, where, kTodo);
  }
}

}  // namespace

absl::StatusOr<Answer> LaunchVerb(const LaunchOptions& options) {
  FileSystem& fs = *PosixFileSystem();
  RealClock clock;
  const TrainOptions& train = options.train;
  if (!options.hosts.empty() && options.np) {
    return InputError("--hosts and --np say two different things",
                      "--hosts " + options.hosts, "give one of them");
  }
  LS_RETURN_IF_ERROR(
      CheckProgram(options.mpirun, "--mpirun", ProgramSearchPath()));
  LS_ASSIGN_OR_RETURN(const ResolvedRun run,
                      ResolveRun(fs, train.recipe, train.sets, train.run_dir));
  const RunConfig& config = run.config;
  SupervisorOptions supervise;
  supervise.run_dir = run.run_dir;
  supervise.hosts = [&] { return ListHosts(fs, options, config); };
  supervise.probe = config.elastic.probe;
  supervise.probe_timeout_ms = config.elastic.probe_timeout_s * 1000;
  supervise.probe_every_ms = config.elastic.probe_every_s * 1000;
  supervise.holder = [&] { return HolderOf(fs, run.run_dir); };
  LS_ASSIGN_OR_RETURN(const std::vector<LaunchHost> hosts, supervise.hosts());
  LaunchPolicy& policy = supervise.policy;
  LS_ASSIGN_OR_RETURN(policy.wanted, Wanted(config, hosts, train.recipe));
  policy.batch = BatchOf(config.elastic.batch);
  policy.wait_for_replacement_ms = config.elastic.wait_for_replacement_s * 1000;
  policy.retries = options.retries;
  const int64_t timeout_s =
      RankTimeoutS(fs, train.rank_timeout_s, train.recipe, train.sets);
  policy.held_ms = timeout_s * 1000 + kHeldGraceMs;
  policy.fits = [&](const LaunchLayout& layout) {
    std::vector<std::string> sets = train.sets;
    const auto more = SetsFor(layout, config);
    sets.insert(sets.end(), more.begin(), more.end());
    return ResolveRun(fs, train.recipe, sets, train.run_dir).ok();
  };
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").string();
  bool resized = false;  // some start was on another layout
  supervise.command = [&](const LaunchAction& start) {
    resized = resized || start.resize.has_value();
    LaunchOptions job = options;
    const auto more = SetsFor(start.layout, config);
    job.train.sets.insert(job.train.sets.end(), more.begin(), more.end());
    JobCommand command = {
        .argv = MpirunCommand(job, program, run.run_dir, start, resized)};
    if (resized) command.environment["LOCKSTEP_RESIZE"] = ResizeJson(start);
    return command;
  };
  Supervisor supervisor(fs, clock, supervise);
  LS_ASSIGN_OR_RETURN(const LaunchResult result, supervisor.Run());
  return AnswerOf(result, run.run_dir);
}

}  // namespace lockstep
