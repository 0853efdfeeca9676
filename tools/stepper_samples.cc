// The phase of a step that reads: which samples are next, and their tokens.
#include <algorithm>
#include <string>
#include <utility>

#include "data/prefetch.h"
#include "determinism/status.h"
#include "parallel/replica_share.h"
#include "tools/document_fault.h"
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

absl::StatusOr<std::vector<SkipRange>> Stepper::AllSkips() const {
  LS_ASSIGN_OR_RETURN(std::vector<SkipRange> ranges, skip_list_.Ranges());
  ranges.insert(ranges.end(), planned_skips_.begin(), planned_skips_.end());
  return ranges;
}

absl::StatusOr<SampleStream> Stepper::stream() const {
  LS_ASSIGN_OR_RETURN(const std::vector<SkipRange> ranges, AllSkips());
  return SampleStream(ranges);
}

// Step by step, since a run whose batch was changed has not seen what its
// schedule would have.
uint64_t Stepper::samples_to_go() const {
  const auto seen = static_cast<int64_t>(state_.samples_seen);
  const int64_t steps =
      config_.Steps() - static_cast<int64_t>(state_.iterations);
  return static_cast<uint64_t>(
      config_.batches.SamplesAfter(std::max<int64_t>(steps, 0), seen) - seen);
}

absl::StatusOr<std::string> Stepper::DescribeDraws() const {
  LS_ASSIGN_OR_RETURN(const SampleStream order, stream());
  const uint64_t end = order.CursorAfter(state_.cursor, samples_to_go());
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

// This replica's whole micro-batches of a batch.
std::vector<uint64_t> Stepper::ShareOf(
    const std::vector<uint64_t>& batch) const {
  const int64_t micro = config_.batch.micro;
  const ReplicaShare share =
      ReplicaShareOf(static_cast<int64_t>(batch.size()) / micro,
                     layout().shape.data, layout().at.data);
  const auto first = batch.begin() + share.first_micro_batch * micro;
  return {first, first + share.micro_batches * micro};
}

absl::Status Stepper::LoadSamples(Work& work) {
  if (faults_ != nullptr) {
    faults_->BeginStep(work.report.step, 0);
    LS_RETURN_IF_ERROR(faults_->AtPoint("step.begin"));
  }
  AdoptDueSkips();
  LS_ASSIGN_OR_RETURN(auto batches, NextBatches());
  work.report.sample_first = batches.front().front();
  work.report.sample_last = batches.front().back();
  work.cursor_after = work.report.sample_last + 1;
  for (std::vector<uint64_t>& batch : batches) batch = ShareOf(batch);
  work.samples = batches.front();
  if (work.samples.empty()) return absl::OkStatus();
  std::vector<uint64_t> read = work.samples;
  if (faults_ != nullptr) {
    for (uint64_t& index : read) index = faults_->SampleFor(index);
  }
  prefetcher_.Announce(batches);
  LS_ASSIGN_OR_RETURN(SampleBatch batch, prefetcher_.Take(read));
  if (faults_ != nullptr) {
    LS_RETURN_IF_ERROR(
        ChangeDocuments(*dataset_, read, *faults_, batch.tokens_ST1));
  }
  work.tokens_ST1 = std::move(batch.tokens_ST1);
  work.mask_ST = std::move(batch.mask_ST);
  work.segments_ST = std::move(batch.segments_ST);
  work.losses_ST.resize(work.mask_ST.size());
  return absl::OkStatus();
}

}  // namespace lockstep
