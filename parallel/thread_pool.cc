#include "parallel/thread_pool.h"

#include <algorithm>

#include "determinism/check.h"
#include "determinism/float_env.h"

namespace lockstep {
namespace {

constexpr int kSpins = 2000;  // tens of microseconds

int SpinsFor(int threads) {
  const unsigned cores = std::thread::hardware_concurrency();
  return static_cast<unsigned>(threads) <= cores ? kSpins : 0;
}

}  // namespace

ThreadPool::ThreadPool(int threads) : spins_(SpinsFor(threads)) {
  LS_CHECK_GE(threads, 1);
  workers_.reserve(threads - 1);
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker] { Work(worker); });
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_.store(true);
    job_.fetch_add(1);
  }
  job_changed_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::ParallelFor(int64_t n, const RangeFunction& fn,
                             int64_t grain) {
  LS_CHECK_GE(n, 0);
  LS_CHECK_GE(grain, 1);
  if (n == 0) return;
  const int64_t ranges = std::clamp<int64_t>(n / grain, 1, threads());
  if (ranges == 1 || InsideRange()) {
    ScopedFloatEnv env;
    fn(0, n);
    return;
  }
  std::lock_guard<std::mutex> turn(caller_mutex_);
  caller_.store(std::this_thread::get_id());
  Publish(n, ranges, fn);
  RunRange(0);
  AwaitRanges();
  caller_.store(std::thread::id());
}

// Workers beyond the last range take part as well: they finish at once, and
// none can be late to read a job that the next one overwrites.
void ThreadPool::Publish(int64_t n, int64_t ranges, const RangeFunction& fn) {
  fn_ = &fn;
  n_ = n;
  ranges_ = ranges;
  unfinished_.store(static_cast<int>(workers_.size()));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    job_.fetch_add(1);
  }
  job_changed_.notify_all();
}

void ThreadPool::RunRange(int64_t range) const {
  if (range >= ranges_) return;
  // The first n % ranges ranges are one longer.
  const int64_t size = n_ / ranges_;
  const int64_t longer = n_ % ranges_;
  const int64_t begin = range * size + std::min(range, longer);
  const int64_t end = begin + size + (range < longer ? 1 : 0);
  ScopedFloatEnv env;
  (*fn_)(begin, end);
}

void ThreadPool::AwaitRanges() {
  for (int spin = 0; spin < spins_; ++spin) {
    if (unfinished_.load() == 0) return;
    __builtin_ia32_pause();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  all_done_.wait(lock, [this] { return unfinished_.load() == 0; });
}

uint64_t ThreadPool::AwaitJob(uint64_t seen_job) {
  for (int spin = 0; spin < spins_; ++spin) {
    if (const uint64_t job = job_.load(); job != seen_job) return job;
    __builtin_ia32_pause();
  }
  std::unique_lock<std::mutex> lock(mutex_);
  job_changed_.wait(lock, [&] { return job_.load() != seen_job; });
  return job_.load();
}

void ThreadPool::Work(int worker) {
  uint64_t job = 0;
  while (true) {
    job = AwaitJob(job);
    if (stopping_.load()) return;
    RunRange(worker);
    if (unfinished_.fetch_sub(1) == 1) {
      // Under the lock, or the caller could miss it between look and sleep.
      std::lock_guard<std::mutex> lock(mutex_);
      all_done_.notify_one();
    }
  }
}

bool ThreadPool::InsideRange() const {
  const std::thread::id self = std::this_thread::get_id();
  if (caller_.load() == self) return true;
  return std::any_of(
      workers_.begin(), workers_.end(),
      [self](const std::thread& w) { return w.get_id() == self; });
}

}  // namespace lockstep
