// Checkpoints of a run, as its folder has them: committed, on record, retained.
#include <utility>

#include "ckpt/retention.h"
#include "determinism/status.h"
#include "tools/rank_lead.h"
#include "tools/run_folder.h"

namespace lockstep {

std::vector<std::string> RunFolder::TakeNotes() {
  const std::lock_guard lock(notes_mutex_);
  return std::exchange(notes_, {});
}

// The head of the ledger is of this moment: lines that come before the commit
// stand behind it in the chain, which holds it as well.
SaveOptions RunFolder::PlanSave(int64_t step) const {
  return {.run_dir = dir_,
          .step = step,
          .run_id = manifest_.run_id,
          .manifest_json = manifest_json_,
          .ledger_head = ledger_->Head(),
          .lock = lock_.get()};
}

absl::Status RunFolder::Committed(FileSystem& fs, const SavedCheckpoint& saved,
                                  const CheckpointConfig& config,
                                  const SaveTimes& times) {
  LS_RETURN_IF_ERROR(
      Record("checkpoint", {{"step", saved.index.step},
                            {"state", saved.index.state_fingerprint},
                            {"bytes", static_cast<int64_t>(saved.size_bytes)},
                            {"stall_ms", times.stall_ms},
                            {"save_ms", times.save_ms}}));
  LS_ASSIGN_OR_RETURN(
      const RetentionReport report,
      ApplyRetention(fs,
                     {.run_dir = dir_,
                      .run_id = manifest_.run_id,
                      .keep = config.keep,
                      .keep_every = config.keep_every,
                      .lock = lock_.get(),
                      .before_removal =
                          [this](const auto& names) {
                            return Record("retention", {{"removed", names}});
                          }},
                     saved.index.step));
  const std::lock_guard lock(notes_mutex_);
  notes_.insert(notes_.end(), report.notes.begin(), report.notes.end());
  return absl::OkStatus();
}

absl::Status RunFolder::Save(Stepper& stepper, const CheckpointConfig& config) {
  const int64_t began = clock_.MonotonicNanos();
  const auto step = static_cast<int64_t>(stepper.state().iterations);
  LS_ASSIGN_OR_RETURN(const SavedCheckpoint saved,
                      RankLead(fs_, stepper).Save(PlanSave(step)));
  const double ms = static_cast<double>(clock_.MonotonicNanos() - began) * 1e-6;
  return Committed(fs_, saved, config, {.stall_ms = ms, .save_ms = ms});
}

}  // namespace lockstep
