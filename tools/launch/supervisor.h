// Carries out what a LaunchMachine decides: hosts, processes, signals, time.
//
// What it is: the loop that turns the world into events and actions into the
// world. What it is not: the policy (launch_machine.h), or part of a run: it
// takes no lock and writes nothing into the run's folder; what it knows of a
// resize it hands to the job, which records it (LOCKSTEP_RESIZE). It listens on
// no port. Why so: the trainer alone writes to a run.
#ifndef LOCKSTEP_TOOLS_LAUNCH_SUPERVISOR_H_
#define LOCKSTEP_TOOLS_LAUNCH_SUPERVISOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "tools/launch/host_probes.h"
#include "tools/launch/job.h"
#include "tools/launch/launch_machine.h"

namespace lockstep {

struct SupervisorOptions {
  LaunchPolicy policy = {};
  std::string run_dir = {};
  // Read again for each attempt, so that a file may change meanwhile.
  std::function<absl::StatusOr<std::vector<LaunchHost>>()> hosts = {};
  std::string probe = {};  // a shell command, with LOCKSTEP_HOST; empty: none
  int64_t probe_timeout_ms = 10'000;
  int64_t probe_every_ms = 10'000;  // while a job runs; 0: not then
  // Who has the run, as a sentence's subject; empty: nobody.
  std::function<std::string()> holder = {};
  // What starts a job of so many ranks there.
  std::function<JobCommand(const LaunchAction& start)> command = {};
};

struct LaunchResult {
  int exit_code = 0;
  std::string message = {};
  int64_t attempts = 0;
};

class Supervisor {
 public:
  // All borrowed. Signals are taken from here until it goes.
  Supervisor(FileSystem& fs, Clock& clock, const SupervisorOptions& options);
  ~Supervisor();

  // Until the machine ends. An error where a job cannot be started at all.
  absl::StatusOr<LaunchResult> Run();

 private:
  int64_t NowMs() const { return clock_.MonotonicNanos() / 1'000'000; }
  absl::Status Do(const LaunchMachine::Actions& actions);
  absl::Status Start(const LaunchAction& start);
  absl::Status AskHosts();
  // What the probes of AskHosts, or those beside a job, came to.
  absl::Status TakeProbes();
  // Waits a moment, and takes what has come meanwhile.
  absl::Status Look();
  absl::Status TakeSignals();
  absl::Status LookAtJob();

  FileSystem& fs_;
  Clock& clock_;
  const SupervisorOptions& options_;
  LaunchMachine machine_;
  int signals_ = -1;  // a signalfd
  std::unique_ptr<Job> job_;
  HostProbes probes_;
  std::vector<LaunchHost> listed_;  // as of the last question
  std::vector<LaunchHost> placed_;
  int64_t started_unix_ms_ = 0;
  int64_t looked_at_words_ms_ = 0;
  int64_t probe_next_ms_ = 0;
  std::optional<LaunchResult> result_;
  int64_t attempts_ = 0;
  bool said_waiting_ = false;  // for hosts, since the last start
  std::string attempt_;        // the one under way: LOCKSTEP_ATTEMPT
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_SUPERVISOR_H_
