// Batches read ahead of the step that needs them, by explicit sample indices.
//
// What it is: threads that fill the rows of announced batches, and Take, which
// hands over the batch of exactly the samples that are asked for. What it is
// not: a loader with a position. It holds no state that a checkpoint would have
// to catch: which samples come next is decided by whoever asks, and what was
// read and is never asked for has happened to nobody. So neither threads nor
// depth can change a bit, a cursor or the step at which an error is met: a
// batch keeps the error of its first sample that cannot be read, and Take
// returns it. Why so: the commonest way to lose samples at a resume is to count
// as consumed what a worker has fetched.
//
// The threads copy and compare integers; no floating-point environment (N2)
// need be set on them.

#ifndef DATA_PREFETCH_H_
#define DATA_PREFETCH_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/data_source.h"

namespace lockstep {

// S samples of T tokens.
struct SampleBatch {
  std::vector<uint64_t> samples;     // global indices, as asked for
  std::vector<int32_t> tokens_ST1;   // [S, T+1]
  std::vector<uint8_t> mask_ST;      // [S, T]
  std::vector<int32_t> segments_ST;  // [S, T], or empty
};

struct PrefetchOptions {
  int threads = 0;  // 0: nothing is read before it is asked for
  int64_t sequence = 0;
  bool segments = false;
};

class Prefetcher {
 public:
  // Fills the rows of one sample. Called from several threads at a time.
  using Reader = std::function<absl::Status(uint64_t, const SampleRows&)>;

  Prefetcher(Reader reader, const PrefetchOptions& options);
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  // Waits for the samples that are being read, one a thread at most.
  ~Prefetcher();

  // What will be asked for, soonest first: read from now on, in this order.
  // Batches that were announced before and are not in this list are dropped.
  void Announce(const std::vector<std::vector<uint64_t>>& batches);

  // The batch of these samples; what is not yet read of it is read here. The
  // error is that of the first sample, in their order, that cannot be read.
  absl::StatusOr<SampleBatch> Take(const std::vector<uint64_t>& samples);

  // Samples that threads have read, for tests: whether anything was ahead.
  int64_t read_ahead() const;

 private:
  struct Job {
    SampleBatch batch;
    size_t next = 0;  // first sample that nobody has begun
    size_t done = 0;
    size_t failed = 0;  // if `status` is an error: the sample it is of
    absl::Status status;

    bool begun() const { return next == batch.samples.size(); }
    bool finished() const { return done == batch.samples.size(); }
  };
  using JobPtr = std::shared_ptr<Job>;

  JobPtr NewJob(const std::vector<uint64_t>& samples) const;
  JobPtr FindJob(const std::vector<uint64_t>& samples) const;
  // Reads the job's next sample; `lock` is held before and after, not during.
  void ReadOne(const JobPtr& job, std::unique_lock<std::mutex>& lock);
  void Work();
  void StartThreads();

  const Reader reader_;
  const PrefetchOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable work_;  // for threads: there is something to read
  std::condition_variable done_;  // for Take: a sample was read
  std::deque<JobPtr> jobs_;
  int64_t read_ahead_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lockstep

#endif  // DATA_PREFETCH_H_
