// Somebody else's training step, or checkpoint, in a process of its own, in
// turns with ours.
//
// What it is: a command that is told what to do it with, says when it is ready,
// and then does what each line it is sent says, once. What it is not: a check
// that both do the same: the script answers for that (tests/oracle/). Why so:
// another framework has its own language and its own threads; in turns,
// whatever disturbs the machine meets both.
//
// The command gets `--threads N --shape FILE`, prints the line `ready NAME`,
// and for each line on its input one line: the seconds. FILE is ShapeJson and
// the lines are `step`; of a checkpoint, see checkpoint_peer.h. Its input ends
// when we do not need it any more.
#ifndef LOCKSTEP_TOOLS_BENCH_PEER_STEP_H_
#define LOCKSTEP_TOOLS_BENCH_PEER_STEP_H_

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tools/run_config.h"

namespace lockstep {

class PeerStep {
 public:
  // Waits until it is ready. InputError where it ends before.
  static absl::StatusOr<std::unique_ptr<PeerStep>> Start(
      const std::string& command, const std::string& shape_path, int threads);
  PeerStep(const PeerStep&) = delete;
  PeerStep& operator=(const PeerStep&) = delete;
  ~PeerStep();  // waits for its end

  const std::string& name() const { return name_; }
  absl::StatusOr<double> Seconds(const std::string& what = "step");  // of one

 private:
  PeerStep(std::string command, int socket, pid_t process)
      : command_(std::move(command)), socket_(socket), process_(process) {}

  absl::StatusOr<std::string> ReadLine();
  absl::Status Wrong(const std::string& what) const;

  const std::string command_;
  const int socket_;
  const pid_t process_;
  std::string read_;  // beyond the last line
  std::string name_;
};

// Model, precision, samples and tokens of a step.
std::string ShapeJson(const RunConfig& config);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BENCH_PEER_STEP_H_
