#include "tools/step_order.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "determinism/status.h"
#include "tools/skip_adoption.h"

namespace lockstep {

absl::StatusOr<StepOrder> StepOrder::OfRun(FileSystem& fs,
                                           const std::string& run_dir,
                                           const BatchSchedule& batches) {
  StepOrder order(batches);
  order.run_dir_ = run_dir;
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  LS_ASSIGN_OR_RETURN(const auto skips, RecordedSkips(ledger.entries));
  order.stream_ = SampleStream(skips);
  LS_ASSIGN_OR_RETURN(order.recorded_, RecordedSteps::Read(fs, run_dir));
  LS_RETURN_IF_ERROR(order.ReadOrigin(fs, run_dir));
  LS_RETURN_IF_ERROR(order.Seek(order.first_step_));
  return order;
}

// A parent's steps may have had other batches than the fork's recipe says, so
// where they ended is not computed.
absl::Status StepOrder::ReadOrigin(FileSystem& fs, const std::string& run_dir) {
  LS_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(fs, run_dir));
  if (manifest.parent.run_id.empty()) return absl::OkStatus();
  first_step_ = manifest.parent.step + 1;
  LS_ASSIGN_OR_RETURN(const LedgerReport ledger, ReadLedger(fs, run_dir));
  for (const LedgerEntry& entry : ledger.entries) {
    if (entry.event != "fork" ||
        entry.Field("run_id") != std::string(manifest.run_id)) {
      continue;
    }
    if (absl::SimpleAtoi(entry.Field("samples_seen"), &first_seen_) &&
        absl::SimpleAtoi(entry.Field("next_sample"), &first_cursor_)) {
      return absl::OkStatus();
    }
  }
  return ManifestMismatch("the ledger does not say where this fork began",
                          run_dir + "/ledger.jsonl, event fork",
                          "it was written by another version");
}

absl::Status StepOrder::Seek(int64_t step) {
  if (step < first_step_) {
    return InputError(
        absl::StrCat("this run is a fork, and its first step is ", first_step_),
        absl::StrCat(run_dir_, ", step ", step), "ask the run it grew from");
  }
  int64_t done = std::min(recorded_.last(), step - 1);
  if (recorded_.Has(done)) {
    seen_ = recorded_.Count(done, "samples_seen");
    cursor_ = recorded_.Count(done, "sample_last") + 1;
  } else {
    done = first_step_ - 1;
    seen_ = first_seen_;
    cursor_ = first_cursor_;
  }
  const auto after = static_cast<uint64_t>(
      batches_.SamplesAfter(step - 1 - done, static_cast<int64_t>(seen_)));
  cursor_ = stream_.CursorAfter(cursor_, after - seen_);
  seen_ = after;
  step_ = step;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> StepOrder::Next() {
  const int64_t step = step_++;
  const bool done = recorded_.Has(step);
  const auto batch =
      done ? static_cast<int64_t>(recorded_.Count(step, "samples_seen") - seen_)
           : batches_.At(static_cast<int64_t>(seen_));
  const bool possible = batch >= 1 && batch <= kMostBatch;
  std::vector<uint64_t> samples;
  if (possible) {
    LS_ASSIGN_OR_RETURN(samples, stream_.Take(cursor_, batch));
    cursor_ = samples.back() + 1;
    seen_ += samples.size();
  }
  if (!done ||
      (possible && samples.front() == recorded_.Count(step, "sample_first") &&
       samples.back() == recorded_.Count(step, "sample_last"))) {
    return samples;
  }
  return ManifestMismatch(
      "the run read other samples than its ledger and metrics say together",
      absl::StrCat(run_dir_, "/metrics.jsonl, step ", step),
      "one of the two files was changed");
}

}  // namespace lockstep
