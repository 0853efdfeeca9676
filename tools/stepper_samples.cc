// The phase of a step that reads: which samples are next, and their tokens.
#include <algorithm>
#include <string>
#include <utility>

#include "data/prefetch.h"
#include "determinism/status.h"
#include "tools/stepper.h"

namespace lockstep {

absl::Status Stepper::PlanSkips(std::vector<SkipRange> recorded) {
  LS_ASSIGN_OR_RETURN(const auto adopted, skip_list_.Ranges());
  std::erase_if(recorded, [&](const SkipRange& range) {
    return range.count() == 0 ||
           std::find(adopted.begin(), adopted.end(), range) != adopted.end();
  });
  std::stable_sort(recorded.begin(), recorded.end(),
                   [](const SkipRange& a, const SkipRange& b) {
                     return a.adopted_at < b.adopted_at;
                   });
  planned_skips_ = std::move(recorded);
  AdoptDueSkips();
  return absl::OkStatus();
}

void Stepper::AdoptDueSkips() {
  auto& planned = planned_skips_;
  while (!planned.empty() && planned.front().adopted_at <= state_.cursor) {
    skip_list_.Adopt(planned.front());
    planned.erase(planned.begin());
  }
}

absl::StatusOr<SampleStream> Stepper::stream() const {
  LS_ASSIGN_OR_RETURN(std::vector<SkipRange> ranges, skip_list_.Ranges());
  ranges.insert(ranges.end(), planned_skips_.begin(), planned_skips_.end());
  return SampleStream(ranges);
}

absl::StatusOr<std::string> Stepper::DescribeDraws() const {
  LS_ASSIGN_OR_RETURN(const SampleStream order, stream());
  const int64_t left = config_.batches.SamplesAfter(config_.Steps()) -
                       static_cast<int64_t>(state_.samples_seen);
  const uint64_t end = order.CursorAfter(
      state_.cursor, static_cast<uint64_t>(std::max<int64_t>(left, 0)));
  return dataset_->DescribeDraws(state_.cursor, end);
}

// A fault has its place in a step, so with faults each step reads its own.
bool Stepper::ReadsAhead() const {
  return config_.data.prefetch > 0 && (faults_ == nullptr || faults_->empty());
}

PrefetchOptions Stepper::Prefetching() const {
  const auto threads = static_cast<int>(config_.data.prefetch_threads);
  return {.threads = ReadsAhead() ? threads : 0,
          .sequence = config_.data.sequence,
          .segments = config_.data.reset_at_documents};
}

// The next samples of the one global order, but for those in the skip list:
// this step's, and those of the steps that are read ahead. Each step's list
// follows from (cursor, samples seen, skip list) alone.
absl::StatusOr<std::vector<std::vector<uint64_t>>> Stepper::NextBatches()
    const {
  LS_ASSIGN_OR_RETURN(const SampleStream order, stream());
  uint64_t cursor = state_.cursor;
  auto seen = static_cast<int64_t>(state_.samples_seen);
  std::vector<std::vector<uint64_t>> batches;
  for (int64_t i = 0; i <= (ReadsAhead() ? config_.data.prefetch : 0); ++i) {
    const int64_t batch = config_.batches.At(seen);
    auto samples = order.Take(cursor, batch);
    // A later step's error is that step's, if the run ever comes there.
    if (!samples.ok() && i > 0) break;
    LS_RETURN_IF_ERROR(samples.status());
    cursor = samples->back() + 1;
    seen += batch;
    batches.push_back(*std::move(samples));
  }
  return batches;
}

absl::Status Stepper::LoadSamples(Work& work) {
  LS_ASSIGN_OR_RETURN(const auto batches, NextBatches());
  work.samples = batches.front();
  work.report.sample_first = work.samples.front();
  work.report.sample_last = work.samples.back();
  std::vector<uint64_t> read = work.samples;
  if (faults_ != nullptr) {
    for (uint64_t& index : read) index = faults_->SampleFor(index);
  }
  prefetcher_.Announce(batches);
  LS_ASSIGN_OR_RETURN(SampleBatch batch, prefetcher_.Take(read));
  work.tokens_ST1 = std::move(batch.tokens_ST1);
  work.mask_ST = std::move(batch.mask_ST);
  work.segments_ST = std::move(batch.segments_ST);
  work.losses_ST.resize(work.mask_ST.size());
  for (const uint8_t valid : work.mask_ST) work.report.valid_tokens += valid;
  return absl::OkStatus();
}

}  // namespace lockstep
