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
    : fs_(fs), clock_(clock), options_(options), machine_(options.policy) {
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
  started_unix_ms_ = clock_.UnixMillis();
  LS_ASSIGN_OR_RETURN(job_, Job::Start(options_.command(start)));
  return absl::OkStatus();
}

absl::Status Supervisor::AskHosts() {
  auto listed = options_.hosts();
  if (!listed.ok() && attempts_ == 0) return listed.status();
  std::vector<LaunchHost> alive;
  if (listed.ok()) {
    for (const LaunchHost& host : *listed) {
      if (Lives(host)) alive.push_back(host);
    }
  } else {
    // A file that is being written may be whole the next time.
    Say(std::string(listed.status().message()));
  }
  return Do(machine_.HostsSeen(NowMs(), alive));
}

bool Supervisor::Lives(const LaunchHost& host) {
  if (options_.probe.empty()) return true;
  auto probe = Job::Start({.argv = {"sh", "-c", options_.probe},
                           .environment = {{"LOCKSTEP_HOST", host.name}}});
  if (!probe.ok()) return false;
  const int64_t over = NowMs() + options_.probe_timeout_ms;
  while (NowMs() < over) {
    const auto code = (*probe)->Ended();
    if (code) {
      if (*code != 0) Say(host.name + " does not answer the probe");
      return *code == 0;
    }
    pollfd ends = {(*probe)->stderr_fd(), POLLIN, 0};
    poll(&ends, 1, kLookMs);
    (*probe)->ReadStderr();
  }
  Say(host.name + " did not answer the probe in time");
  return false;
}

absl::Status Supervisor::Look() {
  pollfd ends[2] = {{signals_, POLLIN, 0},
                    {job_ == nullptr ? -1 : job_->stderr_fd(), POLLIN, 0}};
  poll(ends, 2, kLookMs);
  LS_RETURN_IF_ERROR(TakeSignals());
  if (job_ != nullptr) LS_RETURN_IF_ERROR(LookAtJob());
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
  const auto code = job_->Ended();
  if (code) {
    const JobEnd end = DescribeEnd(fs_, options_.run_dir, *code, job_->said(),
                                   started_unix_ms_, placed_);
    job_.reset();
    if (*code != 0) {
      Say(absl::StrCat("the job ended with ", *code, " in step ", end.step,
                       end.host.empty() ? "" : " on " + end.host));
    }
    return Do(machine_.JobEnded(NowMs(), end));
  }
  if (NowMs() - looked_at_words_ms_ < kWordsEveryMs) return absl::OkStatus();
  looked_at_words_ms_ = NowMs();
  return ReadRankWords(fs_, options_.run_dir, started_unix_ms_).words > 0
             ? Do(machine_.WordsSeen(NowMs()))
             : absl::OkStatus();
}

}  // namespace lockstep
