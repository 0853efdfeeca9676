#include "tools/launch/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "determinism/status.h"
#include "tools/launch/failure.h"
#include "tools/launch/launch_hosts.h"

namespace lockstep {
namespace {

constexpr int kLookMs = 100;
constexpr int64_t kWordsEveryMs = 1'000;

sigset_t Taken() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set, signal);
  return set;
}

void Say(const std::string& text) {
  std::fprintf(stderr, "lockstep launch: %s\n", text.c_str());
}

std::string TextOf(const LaunchLayout& layout) {
  return absl::StrCat("data ", layout.data, " x pipeline ", layout.pipeline,
                      " x tensor ", layout.tensor);
}

}  // namespace

Supervisor::Supervisor(FileSystem& fs, Clock& clock,
                       const SupervisorOptions& options)
    : fs_(fs),
      clock_(clock),
      options_(options),
      machine_(options.policy),
      probes_(options.probe, options.probe_timeout_ms) {
  const sigset_t taken = Taken();
  sigprocmask(SIG_BLOCK, &taken, nullptr);
  signals_ = signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
}

Supervisor::~Supervisor() {
  job_.reset();
  if (signals_ >= 0) close(signals_);
  const sigset_t taken = Taken();
  sigprocmask(SIG_UNBLOCK, &taken, nullptr);
}

absl::StatusOr<LaunchResult> Supervisor::Run() {
  LS_RETURN_IF_ERROR(Do(machine_.Begin(NowMs())));
  while (!result_) LS_RETURN_IF_ERROR(Look());
  result_->attempts = attempts_;
  return *result_;
}

absl::Status Supervisor::Do(const LaunchMachine::Actions& actions) {
  for (const LaunchAction& action : actions) {
    switch (action.kind) {
      case LaunchAction::kAskHosts:
        LS_RETURN_IF_ERROR(AskHosts());
        break;
      case LaunchAction::kStart:
        LS_RETURN_IF_ERROR(Start(action));
        break;
      case LaunchAction::kTellToStop:
        Say("told to stop: the job saves after its step");
        if (job_ != nullptr) job_->TellToStop();
        break;
      case LaunchAction::kKill:
        Say(action.message + ": the job is killed");
        if (job_ != nullptr) job_->Kill();
        break;
      case LaunchAction::kEnd:
        result_ = {action.exit_code, action.message};
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status Supervisor::Start(const LaunchAction& start) {
  std::vector<std::string> names;
  for (const LaunchHost& host : start.hosts) names.push_back(host.name);
  Say(absl::StrCat(
      "attempt ", ++attempts_, " on ", absl::StrJoin(names, ", "), ": ",
      TextOf(start.layout),
      start.idle.empty() ? "" : "; idle: ", absl::StrJoin(start.idle, ", ")));
  if (start.resize) {
    Say(absl::StrCat("after ", start.resize->reason, ", and ",
                     start.resize->waited_ms / 1000,
                     " s of waiting, no longer ", TextOf(start.resize->from)));
  }
  placed_ = start.hosts;
  said_waiting_ = false;
  started_unix_ms_ = clock_.UnixMillis();
  probe_next_ms_ = NowMs() + options_.probe_every_ms;
  attempt_ = absl::StrCat(getpid(), ".", started_unix_ms_, ".", attempts_);
  JobCommand command = options_.command(start);
  command.environment["LOCKSTEP_ATTEMPT"] = attempt_;
  LS_ASSIGN_OR_RETURN(job_, Job::Start(command));
  return absl::OkStatus();
}

absl::Status Supervisor::AskHosts() {
  auto listed = options_.hosts();
  if (!listed.ok() && attempts_ == 0) return listed.status();
  // A file that is being written may be whole the next time.
  if (!listed.ok()) Say(std::string(listed.status().message()));
  listed_ = listed.ok() ? *listed : std::vector<LaunchHost>();
  probes_.Begin(NowMs(), listed_);
  return TakeProbes();  // without a probe all is known at once
}

absl::Status Supervisor::TakeProbes() {
  const auto silent = probes_.Look(NowMs());
  if (!silent) return absl::OkStatus();
  for (const auto& [host, why] : *silent) Say(host + ": " + why);
  if (job_ != nullptr) {
    probe_next_ms_ = NowMs() + options_.probe_every_ms;
    return Do(machine_.Probed(*silent));
  }
  // The first attempt tells a user himself that somebody has the run.
  const std::string holder =
      attempts_ == 0 || !options_.holder ? "" : options_.holder();
  if (!holder.empty()) {
    Say(holder + " still has the run: waiting");
    return Do(machine_.RunHeld(NowMs(), holder));
  }
  std::vector<LaunchHost> alive;
  for (const LaunchHost& host : listed_) {
    const bool out = machine_.excluded().contains(host.name);
    if (!out && !silent->contains(host.name)) alive.push_back(host);
  }
  LS_RETURN_IF_ERROR(Do(machine_.HostsSeen(NowMs(), alive)));
  if (job_ == nullptr && !result_ && !said_waiting_) {
    Say(WaitsFor(alive, options_.policy.wanted.world(),
                 options_.policy.wait_for_replacement_ms));
    said_waiting_ = true;
  }
  return absl::OkStatus();
}

absl::Status Supervisor::Look() {
  pollfd ends[2] = {{signals_, POLLIN, 0},
                    {job_ == nullptr ? -1 : job_->stderr_fd(), POLLIN, 0}};
  poll(ends, 2, kLookMs);
  LS_RETURN_IF_ERROR(TakeSignals());
  if (job_ != nullptr) LS_RETURN_IF_ERROR(LookAtJob());
  LS_RETURN_IF_ERROR(TakeProbes());
  return Do(machine_.Tick(NowMs()));
}

absl::Status Supervisor::TakeSignals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof(info)) ==
         static_cast<ssize_t>(sizeof(info))) {
    LS_RETURN_IF_ERROR(Do(machine_.ToldToStop(NowMs())));
  }
  return absl::OkStatus();
}

absl::Status Supervisor::LookAtJob() {
  job_->ReadStderr();
  if (job_->Over()) probes_.Cancel();  // all other children are the job's
  const auto code = job_->Ended();
  if (code) {
    const JobEnd end = DescribeEnd(fs_, options_.run_dir, *code, job_->said(),
                                   started_unix_ms_, attempt_, placed_);
    job_.reset();
    if (*code != 0) Say("the job ended with " + TextOfEnd(end));
    const auto before = machine_.excluded();
    const auto actions = machine_.JobEnded(NowMs(), end);
    for (const std::string& host : machine_.excluded()) {
      if (!before.contains(host))
        Say(host + " is left out: it failed twice so");
    }
    return Do(actions);
  }
  if (options_.probe_every_ms > 0 && NowMs() >= probe_next_ms_ &&
      !probes_.asking() && !options_.probe.empty()) {
    probes_.Begin(NowMs(), placed_);
  }
  if (NowMs() - looked_at_words_ms_ < kWordsEveryMs) return absl::OkStatus();
  looked_at_words_ms_ = NowMs();
  const RankWords words =
      ReadRankWords(fs_, options_.run_dir, started_unix_ms_, attempt_);
  return words.words > 0 ? Do(machine_.WordsSeen(NowMs())) : absl::OkStatus();
}

}  // namespace lockstep
