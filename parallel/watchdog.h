// Ends what would otherwise hang: each rank watches its own steps and calls.
//
// A communicator answers RankLost by itself when others are late. The watchdog
// adds what it cannot do: it knows the step, it notices that its *own* rank is
// the silent one (a thread of its own looks at the time), and it fires when a
// call is stuck inside a library. It then calls `on_lost` once with the rank's
// last words; the caller writes them down and ends the process with 6. What it
// is not: a retry, a file writer, or a reader of other ranks' state.
//
// Times: on_lost comes `timeout_ms` after a call began when the communicator
// notices, kWatchdogGraceMs later when only the watchdog does, and
// `step_timeout_ms` after a step began when the rank is in no call at all.

#ifndef PARALLEL_WATCHDOG_H_
#define PARALLEL_WATCHDOG_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "determinism/clock.h"
#include "parallel/communicator.h"

namespace lockstep {

constexpr int64_t kWatchdogGraceMs = 2'000;

struct WatchdogOptions {
  int rank = 0;  // in the world
  int64_t timeout_ms = 600'000;
  int64_t step_timeout_ms = 0;  // 0: steps may take any time
};

// What a rank knew when it gave up.
struct LastWords {
  int rank = 0;
  int64_t step = 0;
  std::string group = {};       // which communicator: "world", "tensor", ...
  std::string collective = {};  // empty: it was computing
  std::vector<int> waited_for = {};  // ranks of the world; empty: not known
  int64_t waited_ms = 0;             // in the call, or in the step
  std::string cause = {};            // a sentence
};

class Watchdog {
 public:
  // `clock` outlives the watchdog. `on_lost` is called once at most, from the
  // rank's thread or from the watchdog's, and may end the process.
  Watchdog(const WatchdogOptions& options, Clock* clock,
           std::function<void(const LastWords&)> on_lost);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void BeginStep(int64_t step);
  void EndStep();  // no deadline until the next one begins

  // What this rank would say now; for a signal that ends it.
  LastWords Now() const;
  // Time spent in calls so far: that of messages and of others' lateness, in
  // which this rank computed nothing.
  int64_t waited_ns() const;

  // For WatchedComm: a call begins, and has ended thus. RankLost fires.
  void BeginCall(const std::string& group, std::string collective);
  void EndCall(const absl::Status& status);

 private:
  void Watch();
  void FireLocked(std::unique_lock<std::mutex>& lock, LastWords words);
  LastWords NowLocked() const;
  std::string LateLocked() const;

  const WatchdogOptions options_;
  Clock* const clock_;
  const std::function<void(const LastWords&)> on_lost_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false, fired_ = false, in_step_ = false, in_call_ = false;
  int64_t step_ = 0;
  int64_t step_began_ms_ = 0, call_began_ns_ = 0, waited_ns_ = 0;
  std::string group_, collective_;
  std::thread thread_;
};

// `inner` with every call told to `watchdog`, which outlives it; groups made
// by Split are watched too, as "<name>.<color>". Results are inner's.
std::unique_ptr<Communicator> WatchCommunicator(
    std::unique_ptr<Communicator> inner, Watchdog* watchdog, std::string name);

}  // namespace lockstep

#endif  // PARALLEL_WATCHDOG_H_
