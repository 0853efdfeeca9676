// Compute threads of one rank: a loop over independent items, cut into one
// contiguous range a thread.
//
// What it is not: a task system. There is no queue, no stealing and no future;
// which thread gets which range follows from (n, grain, threads) alone. A range
// never decides a bit (N1): an item is a whole output, and the sums inside it
// have a written order. So threads = 1 and threads = 8 give the same bytes, and
// the static cut only keeps caches warm and runs reproducible in time.
//
// Every range runs inside a ScopedFloatEnv (N2), the caller's own included.

#ifndef PARALLEL_THREAD_POOL_H_
#define PARALLEL_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lockstep {

class ThreadPool {
 public:
  // Items [begin, end), never empty.
  using RangeFunction = std::function<void(int64_t begin, int64_t end)>;

  // Starts threads - 1 workers; the caller of ParallelFor is the last one.
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls `fn` on ranges that cover [0, n) once, and returns when all are done.
  // A range has at least `grain` items, as long as n has them. From inside a
  // range it runs on the spot (nested loops are sequential); callers from
  // several threads take turns.
  void ParallelFor(int64_t n, const RangeFunction& fn, int64_t grain = 1);

 private:
  void Work(int worker);
  void RunRange(int64_t range) const;
  void Publish(int64_t n, int64_t ranges, const RangeFunction& fn);
  void AwaitRanges();
  uint64_t AwaitJob(uint64_t seen_job);
  bool InsideRange() const;

  // How often a waiting thread looks before it sleeps; 0 when there are more
  // threads than cores, where spinning steals from whoever has the work.
  const int spins_;

  // The job: written by the caller before job_ moves, read by workers after.
  const RangeFunction* fn_ = nullptr;
  int64_t n_ = 0;
  int64_t ranges_ = 0;

  std::mutex caller_mutex_;  // one loop at a time
  std::atomic<std::thread::id> caller_{};
  std::mutex mutex_;  // guards both sleeps
  std::condition_variable job_changed_;
  std::condition_variable all_done_;
  std::atomic<uint64_t> job_{0};
  std::atomic<int> unfinished_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> workers_;
};

}  // namespace lockstep

#endif  // PARALLEL_THREAD_POOL_H_
