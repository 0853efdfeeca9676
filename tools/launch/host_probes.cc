#include "tools/launch/host_probes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

constexpr int kNotStarted = 127;

[[noreturn]] void RunProbe(const std::string& command,
                           const std::string& host) {
  setpgid(0, 0);  // so that all of it can be ended
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout is the run's answer
  setenv("LOCKSTEP_HOST", host.c_str(), 1);
  execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
  _exit(kNotStarted);
}

std::string WhyOf(int status) {
  if (WIFSIGNALED(status)) {
    return absl::StrCat("its probe was ended by signal ", WTERMSIG(status));
  }
  return absl::StrCat("its probe ended with ", WEXITSTATUS(status));
}

}  // namespace

void HostProbes::Begin(int64_t now_ms, const std::vector<LaunchHost>& hosts) {
  Cancel();
  asking_ = true;
  until_ms_ = now_ms + timeout_ms_;
  silent_.clear();
  if (command_.empty()) return;
  std::fflush(nullptr);
  for (const LaunchHost& host : hosts) {
    const pid_t pid = fork();
    if (pid == 0) RunProbe(command_, host.name);
    if (pid < 0) {
      silent_[host.name] = "its probe cannot be started here";
      continue;
    }
    setpgid(pid, pid);  // whichever of the two comes first
    asked_.push_back({host.name, pid});
  }
}

std::optional<HostProbes::Silent> HostProbes::Look(int64_t now_ms) {
  if (!asking_) return std::nullopt;
  std::erase_if(asked_, [&](const Asked& asked) {
    int status = 0;
    const pid_t ended = waitpid(asked.pid, &status, WNOHANG);
    if (ended == 0) return false;
    const bool answers =
        ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!answers) silent_[asked.host] = WhyOf(status);
    return true;
  });
  if (!asked_.empty() && now_ms < until_ms_) return std::nullopt;
  for (const Asked& asked : asked_) {
    silent_[asked.host] =
        absl::StrCat("its probe took longer than ", timeout_ms_ / 1000, " s");
  }
  Cancel();
  return silent_;
}

void HostProbes::Cancel() {
  for (const Asked& asked : asked_) {
    kill(-asked.pid, SIGKILL);
    waitpid(asked.pid, nullptr, 0);
  }
  asked_.clear();
  asking_ = false;
}

}  // namespace lockstep
