#include "data/prefetch.h"

#include <algorithm>
#include <utility>

namespace lockstep {

Prefetcher::Prefetcher(Reader reader, const PrefetchOptions& options)
    : reader_(std::move(reader)), options_(options) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// At the first batch that is announced: a stepper that takes no step, as for
// an evaluation, needs none.
void Prefetcher::StartThreads() {
  while (threads_.size() < static_cast<size_t>(options_.threads)) {
    threads_.emplace_back([this] { Work(); });
  }
}

Prefetcher::JobPtr Prefetcher::NewJob(
    const std::vector<uint64_t>& samples) const {
  const size_t count = samples.size();
  const auto tokens = static_cast<size_t>(options_.sequence);
  auto job = std::make_shared<Job>();
  job->batch.samples = samples;
  job->batch.tokens_ST1.resize(count * (tokens + 1));
  job->batch.mask_ST.resize(count * tokens);
  if (options_.segments) job->batch.segments_ST.resize(count * tokens);
  return job;
}

Prefetcher::JobPtr Prefetcher::FindJob(
    const std::vector<uint64_t>& samples) const {
  const auto found = std::find_if(
      jobs_.begin(), jobs_.end(),
      [&](const JobPtr& job) { return job->batch.samples == samples; });
  return found == jobs_.end() ? nullptr : *found;
}

void Prefetcher::Announce(const std::vector<std::vector<uint64_t>>& batches) {
  if (options_.threads == 0) return;
  {
    const std::lock_guard lock(mutex_);
    std::deque<JobPtr> jobs;
    for (const auto& samples : batches) {
      const JobPtr known = FindJob(samples);
      jobs.push_back(known != nullptr ? known : NewJob(samples));
    }
    jobs_ = std::move(jobs);
    StartThreads();
  }
  work_.notify_all();
}

void Prefetcher::ReadOne(const JobPtr& job,
                         std::unique_lock<std::mutex>& lock) {
  const size_t s = job->next++;
  SampleBatch& batch = job->batch;
  lock.unlock();
  // Rows of different samples share no byte.
  const absl::Status status =
      reader_(batch.samples[s],
              RowsOfSample(static_cast<int64_t>(s), options_.sequence,
                           batch.tokens_ST1, batch.mask_ST, batch.segments_ST));
  lock.lock();
  ++job->done;
  if (!status.ok() && (job->status.ok() || s < job->failed)) {
    job->status = status;
    job->failed = s;
  }
}

void Prefetcher::Work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto open =
        std::find_if(jobs_.begin(), jobs_.end(),
                     [](const JobPtr& job) { return !job->begun(); });
    if (open == jobs_.end()) {
      work_.wait(lock);
      continue;
    }
    const JobPtr job = *open;
    ReadOne(job, lock);
    ++read_ahead_;
    if (job->finished()) done_.notify_all();
  }
}

absl::StatusOr<SampleBatch> Prefetcher::Take(
    const std::vector<uint64_t>& samples) {
  std::unique_lock lock(mutex_);
  JobPtr job = FindJob(samples);
  if (job == nullptr) job = NewJob(samples);
  while (!job->begun()) ReadOne(job, lock);
  done_.wait(lock, [&] { return job->finished(); });
  std::erase(jobs_, job);
  if (!job->status.ok()) return job->status;
  return std::move(job->batch);
}

int64_t Prefetcher::read_ahead() const {
  const std::lock_guard lock(mutex_);
  return read_ahead_;
}

}  // namespace lockstep
