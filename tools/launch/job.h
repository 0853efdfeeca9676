// One job: `mpirun` and whatever it has started on this machine.
//
// What it is: a child process whose stderr is passed on and remembered, told to
// stop by SIGUSR1 (which mpirun hands to its ranks), or killed with all of its
// descendants. What it is not: a decision (launch_machine.h). Why so: Open MPI
// puts each rank into a process group of its own, so the death of mpirun leaves
// ranks behind that hold the run's lock; this process adopts them and ends
// them. Ranks on other hosts end when their daemon loses mpirun; one that is
// cut off cannot commit anything, as the lock's generation is not its own.
#ifndef LOCKSTEP_TOOLS_LAUNCH_JOB_H_
#define LOCKSTEP_TOOLS_LAUNCH_JOB_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace lockstep {

struct JobCommand {
  std::vector<std::string> argv = {};
  std::map<std::string, std::string> environment = {};  // beside what there is
};

// One at a time in a process.
class Job {
 public:
  // A program that cannot be run says so and ends with 127, as in a shell; who
  // wants to know before asks program_path.h.
  static absl::StatusOr<std::unique_ptr<Job>> Start(const JobCommand& command);
  ~Job();  // kills
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // For poll(2): what the job says on stderr; -1 once that is closed.
  int stderr_fd() const { return stderr_; }
  // Passes on what there is to read.
  void ReadStderr();
  // The last of it.
  const std::string& said() const { return said_; }

  // Whether the program has ended. What it left may still be there.
  bool Over();
  // The exit code, 128 + signal, once the job and all that it left here is
  // gone; from Over() on, all children of this process are taken for that.
  std::optional<int> Ended();
  void TellToStop();
  void Kill();

 private:
  Job(pid_t pid, int stderr_fd) : pid_(pid), stderr_(stderr_fd) {}

  const pid_t pid_;
  int stderr_;
  std::string said_;
  bool ended_ = false;
  int exit_code_ = 0;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_JOB_H_
