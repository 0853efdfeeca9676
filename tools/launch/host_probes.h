// Which hosts answer `elastic.probe`: all of them asked at once.
//
// What it is: a round of shell commands, one a host, of which one that is not
// over in time counts as no answer. What it is not: a judgement of what a
// silent host means (launch_machine.h), or a connection of ours: the user's
// command knows how a host is reached. Why so: a dead host costs a probe its
// whole time, and a launcher must not stand still for each of a hundred.
#ifndef LOCKSTEP_TOOLS_LAUNCH_HOST_PROBES_H_
#define LOCKSTEP_TOOLS_LAUNCH_HOST_PROBES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/launch/launch_machine.h"

namespace lockstep {

class HostProbes {
 public:
  // An empty command: every host answers.
  HostProbes(std::string command, int64_t timeout_ms)
      : command_(std::move(command)), timeout_ms_(timeout_ms) {}
  ~HostProbes() { Cancel(); }
  HostProbes(const HostProbes&) = delete;
  HostProbes& operator=(const HostProbes&) = delete;

  // Forgets a round that is not over.
  void Begin(int64_t now_ms, const std::vector<LaunchHost>& hosts);
  // Whether a round has begun whose answer was not taken.
  bool asking() const { return asking_; }
  // Those that do not answer and why, once all is known; then asking() ends.
  using Silent = std::map<std::string, std::string>;
  std::optional<Silent> Look(int64_t now_ms);
  // Ends the commands that are under way.
  void Cancel();

 private:
  struct Asked {
    std::string host = {};
    pid_t pid = -1;
  };

  const std::string command_;
  const int64_t timeout_ms_;
  bool asking_ = false;
  int64_t until_ms_ = 0;
  std::vector<Asked> asked_;  // that have not answered
  Silent silent_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_HOST_PROBES_H_
