// What a launcher does next, as a function of what has happened to it.
//
// What it is: the whole policy of `lockstep launch` as pure data: events in (a
// list of hosts, the end of a job, a signal, last words, the time), actions out
// (ask for hosts, start a job there on this layout, tell it to stop, kill it,
// end). What it is not: processes, files or clocks: supervisor.h carries the
// actions out and reports. Why so: what happens after the third failure of a
// night must be tested without a night, and without hosts.
//
// A life, by state:
//
//   asking   -> hosts enough for the layout that is wanted: start it
//            -> too few: waiting, until wait_for_replacement_ms after the
//               failure are over; then start on the best layout that they are
//               enough for (tensor and pipeline degrees kept, fewer replicas,
//               the batch as `elastic.batch` says), or end with 6
//   running  -> ended with 0, 2, 3, 4, 5: end with it. None of these goes away
//               by trying again: a bad recipe, another manifest, checkpoints
//               that are all damaged, a loss that is not finite.
//            -> ended otherwise: backing off, then asking; after `retries`
//               failures without a new checkpoint in between: end
//            -> a rank's last words, and the job is still there after lost_ms:
//               kill it: with a link down mpirun notices nothing for minutes
//            -> a host of it did not answer two probes in a row: kill it
//            -> told to stop: stopping
//   stopping -> tell the job (SIGUSR1: all ranks save after the same step);
//   told
//               again, or not over after stop_ms: kill it. Ends with 8 unless
//               the job ended with 0 or a verdict of its own.
//
// A run that another trainer still has, maybe a rank of the old job behind a
// pulled cable, is waited for until held_ms are over: its watchdog ends it, or
// its file system takes the lock away.
//
// A host on which a job failed twice in the same step is not used again. Larger
// again: each start takes the layout that is wanted if there are hosts for it;
// a job that runs is not stopped for that.
#ifndef LOCKSTEP_TOOLS_LAUNCH_LAUNCH_MACHINE_H_
#define LOCKSTEP_TOOLS_LAUNCH_LAUNCH_MACHINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

struct LaunchHost {
  std::string name = {};
  int64_t slots = 1;   // ranks that it takes
  bool spare = false;  // used only where others are too few
};

struct LaunchLayout {
  int64_t data = 1;
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t micro_batches = 1;  // of a step, over all replicas
  int64_t world() const { return data * tensor * pipeline; }
  friend bool operator==(const LaunchLayout&, const LaunchLayout&) = default;
};

// What becomes of the batch with fewer replicas.
enum class ElasticBatch : uint8_t {
  kKeep,     // as it is; some replicas have a micro-batch more
  kNearest,  // the nearest that all replicas share evenly
  kRefuse,   // only what they share evenly as it is
};

struct LaunchPolicy {
  LaunchLayout wanted = {};
  ElasticBatch batch = ElasticBatch::kKeep;
  int64_t wait_for_replacement_ms = 0;
  int64_t ask_every_ms = 5'000;  // while waiting
  int64_t retries = 5;           // without a new checkpoint in between
  int64_t first_backoff_ms = 1'000;
  int64_t most_backoff_ms = 60'000;
  int64_t lost_ms = 5'000;    // from last words to the kill
  int64_t held_ms = 600'000;  // for a run that another trainer has
  int64_t silent_probes = 2;  // in a row, of a host of the job that runs
  int64_t stop_ms = 600'000;  // from the first signal to the kill
  // Whether the recipe can have the layout at all.
  std::function<bool(const LaunchLayout&)> fits = [](const LaunchLayout&) {
    return true;
  };
};

// Of a start on another layout than the one before.
struct LaunchResize {
  LaunchLayout from = {};
  std::string reason = {};
  int64_t waited_ms = 0;
};

struct LaunchAction {
  enum Kind : uint8_t { kAskHosts, kStart, kTellToStop, kKill, kEnd };
  Kind kind = kAskHosts;
  // kStart:
  std::vector<LaunchHost> hosts = {};
  LaunchLayout layout = {};
  std::vector<std::string> idle = {};  // "b: 2 of 4 slots"
  std::optional<LaunchResize> resize = {};
  // kEnd:
  int exit_code = 0;
  std::string message = {};  // of kKill and kEnd: why; of others what for
};

struct JobEnd {
  int exit_code = 0;        // 128 + signal for a job that one ended
  int64_t step = 0;         // that it was in; 0: unknown
  int64_t saved_step = -1;  // of the newest checkpoint; -1: none
  std::string host = {};    // of the rank that failed first; "": unknown
  std::string what = {};    // for people
};

class LaunchMachine {
 public:
  explicit LaunchMachine(LaunchPolicy policy) : policy_(std::move(policy)) {}

  using Actions = std::vector<LaunchAction>;
  Actions Begin(int64_t now_ms);
  // The answer to kAskHosts: those that are listed and alive, in their order.
  Actions HostsSeen(int64_t now_ms, const std::vector<LaunchHost>& hosts);
  Actions JobEnded(int64_t now_ms, const JobEnd& end);
  Actions ToldToStop(int64_t now_ms);
  // Another answer to kAskHosts: hosts or not, `holder` has the run.
  Actions RunHeld(int64_t now_ms, const std::string& holder);
  // Of all hosts these did not answer a probe while the job runs, and why.
  Actions Probed(const std::map<std::string, std::string>& silent);
  // A rank of the job that runs has left its last words.
  Actions WordsSeen(int64_t now_ms);
  // Now and then, also while nothing happens.
  Actions Tick(int64_t now_ms);

  const std::set<std::string>& excluded() const { return excluded_; }
  // A job was started and has not ended.
  bool running() const {
    return state_ == State::kRunning || state_ == State::kStopping;
  }

 private:
  enum class State : uint8_t {
    kAsking,
    kWaiting,  // for `next_ms_`, then it asks
    kRunning,
    kStopping,
    kDone,
  };

  Actions Start(int64_t now_ms, const LaunchLayout& layout,
                const std::vector<LaunchHost>& hosts);
  Actions TooFew(int64_t now_ms, const std::vector<LaunchHost>& hosts);
  Actions End(int exit_code, const std::string& message);
  Actions Retry(int64_t now_ms, JobEnd end);
  Actions Kill(const std::string& why);
  // The largest that `slots` are enough for; none: not one replica, or the
  // batch policy refuses.
  std::optional<LaunchLayout> Smaller(int64_t slots) const;

  const LaunchPolicy policy_;
  State state_ = State::kAsking;
  int64_t next_ms_ = 0;
  int64_t asked_since_ms_ = 0;  // the failure, or the beginning
  std::string reason_ = "the launch";
  std::optional<LaunchLayout> last_;  // that a job was started on
  int64_t saved_step_ = -1;
  int64_t failures_ = 0;
  std::map<std::pair<int64_t, std::string>, int> failed_at_;
  std::set<std::string> excluded_;
  std::map<std::string, int64_t> silent_;  // hosts of the job: probes in a row
  std::string lost_host_;                  // that the job was killed for
  int64_t words_ms_ = -1;                  // when last words were seen
  int64_t stop_ms_ = -1;                   // when it was told to stop
  bool killed_ = false;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_LAUNCH_LAUNCH_MACHINE_H_
