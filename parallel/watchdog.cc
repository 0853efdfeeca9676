#include "parallel/watchdog.h"

#include <chrono>
#include <utility>

#include "parallel/rank_lost.h"

namespace lockstep {
namespace {

// How often the watchdog looks; a test's clock moves by itself.
constexpr auto kLook = std::chrono::milliseconds(20);

constexpr int64_t kNsPerMs = 1'000'000;

int64_t Millis(Clock* clock) { return clock->MonotonicNanos() / kNsPerMs; }

std::string Limit(int64_t ms) { return std::to_string(ms) + " ms"; }

}  // namespace

Watchdog::Watchdog(const WatchdogOptions& options, Clock* clock,
                   std::function<void(const LastWords&)> on_lost)
    : options_(options),
      clock_(clock),
      on_lost_(std::move(on_lost)),
      thread_([this] { Watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::BeginStep(int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  in_step_ = true;
  step_began_ms_ = Millis(clock_);
}

void Watchdog::EndStep() {
  const std::lock_guard lock(mutex_);
  in_step_ = false;
}

LastWords Watchdog::Now() const {
  const std::lock_guard lock(mutex_);
  return NowLocked();
}

int64_t Watchdog::waited_ns() const {
  const std::lock_guard lock(mutex_);
  return waited_ns_;
}

LastWords Watchdog::NowLocked() const {
  LastWords words = {.rank = options_.rank, .step = step_};
  const int64_t now = Millis(clock_);
  if (in_call_) {
    words.group = group_;
    words.collective = collective_;
    words.waited_ms = now - call_began_ns_ / kNsPerMs;
  } else if (in_step_) {
    words.waited_ms = now - step_began_ms_;
  }
  return words;
}

void Watchdog::BeginCall(const std::string& group, std::string collective) {
  const std::lock_guard lock(mutex_);
  in_call_ = true;
  group_ = group;
  collective_ = std::move(collective);
  call_began_ns_ = clock_->MonotonicNanos();
}

void Watchdog::EndCall(const absl::Status& status) {
  std::unique_lock lock(mutex_);
  if (absl::IsUnavailable(status)) {
    LastWords words = NowLocked();
    words.waited_for = LostRanksOf(status);
    words.cause = std::string(status.message());
    FireLocked(lock, std::move(words));
  }
  in_call_ = false;
  waited_ns_ += clock_->MonotonicNanos() - call_began_ns_;
}

// Empty, or what is late.
std::string Watchdog::LateLocked() const {
  const int64_t now = Millis(clock_);
  const int64_t call_limit = options_.timeout_ms + kWatchdogGraceMs;
  if (in_call_ && now - call_began_ns_ / kNsPerMs > call_limit) {
    return "a call did not end within " + Limit(call_limit);
  }
  if (in_step_ && options_.step_timeout_ms > 0 &&
      now - step_began_ms_ > options_.step_timeout_ms) {
    return "the step did not end within " + Limit(options_.step_timeout_ms);
  }
  return "";
}

void Watchdog::Watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (const std::string late = LateLocked(); !late.empty()) {
      LastWords words = NowLocked();
      words.cause = late;
      FireLocked(lock, std::move(words));
    }
    changed_.wait_for(lock, kLook);
  }
}

// Outside the lock: the caller's words may take their time, or ask for Now().
void Watchdog::FireLocked(std::unique_lock<std::mutex>& lock, LastWords words) {
  if (fired_) return;
  fired_ = true;
  lock.unlock();
  on_lost_(words);
  lock.lock();
}

}  // namespace lockstep
