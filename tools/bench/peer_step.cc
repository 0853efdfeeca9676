#include "tools/bench/peer_step.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "determinism/status.h"

extern char** environ;

namespace lockstep {
namespace {

constexpr size_t kLongestLine = 4096;
// A peer may compile its step first, and train one of a large recipe.
constexpr int kPatienceMs = 30 * 60'000;

// A shell with one end of the socket for its input and its output.
absl::StatusOr<pid_t> Spawn(const std::string& command, int socket) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  std::string words[] = {"sh", "-c", command};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                       nullptr};
  pid_t process = 0;
  const int error =
      posix_spawn(&process, "/bin/sh", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return process;
  return InputError(absl::StrCat("cannot start a shell: ", strerror(error)),
                    "--peer", "see whether /bin/sh runs");
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeerStep>> PeerStep::Start(
    const std::string& command, const std::string& shape_path, int threads) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return InputError(absl::StrCat("cannot make a socket: ", strerror(errno)),
                      "--peer", "close some files");
  }
  const absl::StatusOr<pid_t> process =
      Spawn(absl::StrCat(command, " --threads ", threads, " --shape '",
                         shape_path, "'"),
            ends[1]);
  close(ends[1]);
  if (!process.ok()) {
    close(ends[0]);
    return process.status();
  }
  std::unique_ptr<PeerStep> peer(new PeerStep(command, ends[0], *process));
  LS_ASSIGN_OR_RETURN(const std::string line, peer->ReadLine());
  absl::string_view name = line;
  if (!absl::ConsumePrefix(&name, "ready ")) {
    return peer->Wrong("it did not say `ready NAME` but `" + line + "`");
  }
  peer->name_ = std::string(name);
  return peer;
}

PeerStep::~PeerStep() {
  close(socket_);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<double> PeerStep::Seconds(const std::string& what) {
  // A write to a peer that is gone is no signal; reading tells of it.
  const std::string go = what + "\n";
  const ssize_t sent = send(socket_, go.data(), go.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(go.size())) return Wrong("it reads no more");
  LS_ASSIGN_OR_RETURN(const std::string line, ReadLine());
  double seconds = 0;
  if (!absl::SimpleAtod(line, &seconds) || !(seconds > 0) ||
      !std::isfinite(seconds)) {
    return Wrong("`" + line + "` is not the seconds of a " + what);
  }
  return seconds;
}

absl::StatusOr<std::string> PeerStep::ReadLine() {
  size_t end, seen = 0;
  while ((end = read_.find('\n', seen)) == std::string::npos) {
    seen = read_.size();
    if (seen > kLongestLine) return Wrong("it does not end its line");
    pollfd ready = {.fd = socket_, .events = POLLIN, .revents = 0};
    const int count_ready = poll(&ready, 1, kPatienceMs);
    if (count_ready < 0 && errno == EINTR) continue;
    if (count_ready <= 0) {
      return Wrong(absl::StrCat("it said nothing for ", kPatienceMs / 60'000,
                                " minutes"));
    }
    char bytes[4096];
    const ssize_t count = read(socket_, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Wrong("it ended");
    read_.append(bytes, static_cast<size_t>(count));
  }
  const std::string line = read_.substr(0, end);
  read_.erase(0, end + 1);
  return line;
}

absl::Status PeerStep::Wrong(const std::string& what) const {
  return InputError("the peer does not do its part: " + what,
                    "--peer " + command_,
                    "run the command by hand with --threads and --shape; "
                    "tests/oracle/bench_torch.py and bench_dcp.py do theirs");
}

std::string ShapeJson(const RunConfig& config) {
  const ModelConfig& m = config.model;
  std::string pattern = m.pattern;
  std::erase(pattern, '|');
  const nlohmann::ordered_json model = {{"pattern", pattern},
                                        {"vocab", m.vocab},
                                        {"hidden", m.hidden},
                                        {"mamba_heads", m.mamba_heads},
                                        {"mamba_head_dim", m.mamba_head_dim},
                                        {"groups", m.groups},
                                        {"state", m.state},
                                        {"chunk", m.chunk},
                                        {"conv", m.conv},
                                        {"heads", m.heads},
                                        {"kv_heads", m.kv_heads},
                                        {"head_dim", m.head_dim},
                                        {"ffn", m.ffn},
                                        {"norm_eps", m.norm_eps}};
  return nlohmann::ordered_json{{"model", model},
                                {"precision", config.precision.mode},
                                {"samples", config.batch.global},
                                {"micro", config.batch.micro},
                                {"tokens", config.data.sequence}}
      .dump();
}

}  // namespace lockstep
