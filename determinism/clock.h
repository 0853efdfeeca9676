// Time as a dependency, so that tests own it and nothing reads it in passing.
//
// Times go into `step_ms`, deadlines and log lines. They never reach state: a
// component that computes numbers has no Clock to ask.

#ifndef DETERMINISM_CLOCK_H_
#define DETERMINISM_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace lockstep {

// Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  // Since an arbitrary start; never goes back. For durations and deadlines.
  virtual int64_t MonotonicNanos() = 0;
  // Since 1970 in UTC; may jump. For what people read.
  virtual int64_t UnixMillis() = 0;
};

class RealClock : public Clock {
 public:
  int64_t MonotonicNanos() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  int64_t UnixMillis() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
};

// Stands still until a test moves it.
class ManualClock : public Clock {
 public:
  explicit ManualClock(int64_t unix_ms = 0) : start_unix_ms_(unix_ms) {}

  int64_t MonotonicNanos() override { return nanos_.load(); }
  int64_t UnixMillis() override {
    return start_unix_ms_ + nanos_.load() / 1'000'000;
  }
  void AdvanceNanos(int64_t nanos) { nanos_ += nanos; }
  void AdvanceMillis(int64_t ms) { nanos_ += ms * 1'000'000; }

 private:
  const int64_t start_unix_ms_;
  std::atomic<int64_t> nanos_{0};
};

}  // namespace lockstep

#endif  // DETERMINISM_CLOCK_H_
