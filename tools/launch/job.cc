#include "tools/launch/job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

constexpr size_t kRemembered = 64 << 10;  // bytes of stderr
constexpr int kNotStarted = 127;

// The parent of a process; 0: gone.
pid_t ParentOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t name_end = text.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos || name_end + 4 > text.size()) return 0;
  return static_cast<pid_t>(std::atoi(text.c_str() + name_end + 4));
}

// All that descends from this process, as of now.
std::set<pid_t> Descendants() {
  std::map<pid_t, pid_t> parents;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
    parents[static_cast<pid_t>(std::atoi(name.c_str()))] = ParentOf(name);
  }
  std::set<pid_t> found = {getpid()};
  for (bool grew = true; grew;) {
    grew = false;
    for (const auto& [pid, parent] : parents) {
      if (found.contains(parent)) grew = found.insert(pid).second || grew;
    }
  }
  found.erase(getpid());
  return found;
}

void KillDescendants() {
  for (const pid_t pid : Descendants()) kill(pid, SIGKILL);
}

[[noreturn]] void RunChild(const JobCommand& command, int stderr_fd) {
  // What the launcher keeps from itself the job may have again.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Should the launcher die, the job is told to end.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(stderr_fd, STDERR_FILENO);
  for (const auto& [name, value] : command.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char*> argv;
  for (const std::string& argument : command.argv) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "lockstep: %s cannot be run: %s\n", argv[0],
               std::strerror(errno));
  _exit(kNotStarted);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Job>> Job::Start(const JobCommand& command) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return IoError("a pipe cannot be made", command.argv[0],
                   "close other programs", errno);
  }
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) {
    return IoError("a process cannot be started", command.argv[0],
                   "close other programs", errno);
  }
  if (pid == 0) {
    fcntl(ends[1], F_SETFL, 0);
    RunChild(command, ends[1]);
  }
  close(ends[1]);
  return std::unique_ptr<Job>(new Job(pid, ends[0]));
}

Job::~Job() {
  if (!ended_) Kill();
  if (stderr_ >= 0) close(stderr_);
}

void Job::ReadStderr() {
  char buffer[4096];
  while (stderr_ >= 0) {
    const ssize_t got = read(stderr_, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;  // nothing more for now
    if (got == 0) {
      close(stderr_);
      stderr_ = -1;
      return;
    }
    std::fwrite(buffer, 1, static_cast<size_t>(got), stderr);
    said_.append(buffer, static_cast<size_t>(got));
    if (said_.size() > kRemembered) said_.erase(0, said_.size() - kRemembered);
  }
}

bool Job::Over() {
  int status = 0;
  if (ended_ || waitpid(pid_, &status, WNOHANG) != pid_) return ended_;
  ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

std::optional<int> Job::Ended() {
  if (!Over()) return std::nullopt;
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  if (!Descendants().empty()) {
    KillDescendants();
    return std::nullopt;
  }
  ReadStderr();
  return exit_code_;
}

void Job::TellToStop() {
  if (!ended_) kill(pid_, SIGUSR1);
}

void Job::Kill() {
  KillDescendants();
  kill(pid_, SIGKILL);
}

}  // namespace lockstep
