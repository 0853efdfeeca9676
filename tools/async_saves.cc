#include "tools/async_saves.h"

#include <utility>

#include "ckpt/save.h"
#include "determinism/status.h"
#include "parallel/over_ranks.h"

namespace lockstep {

absl::Status AsyncSaves::Open() {
  return saver_.Prepare(parts_.stepper.registry(), parts_.ranks.rank());
}

// What the first rank alone can fail at, it says at the end, as in a save that
// training waits for (rank_lead.h).
BackgroundSaver::Rest AsyncSaves::Lead(int64_t step, int64_t began_ns) {
  SaveOptions options = parts_.folder->PlanSave(step);
  options.world = &parts_.ranks;
  const CheckpointConfig config = parts_.stepper.config().checkpoint;
  return [this, began_ns, config,
          options = std::move(options)](Snapshot& snapshot) -> absl::Status {
    const auto since = [&] {
      return static_cast<double>(parts_.clock.MonotonicNanos() - began_ns) *
             1e-6;
    };
    const double stall_ms = since();
    LS_ASSIGN_OR_RETURN(const SavedCheckpoint saved,
                        SaveSnapshot(parts_.fs, options, snapshot));
    const absl::Status mine = parts_.folder->Committed(
        parts_.fs, saved, config, {.stall_ms = stall_ms, .save_ms = since()});
    const absl::Status all = AgreeOverRanks(parts_.ranks, mine);
    return mine.ok() ? all : mine;
  };
}

BackgroundSaver::Rest AsyncSaves::Follow() {
  return [this](Snapshot& snapshot) -> absl::Status {
    LS_RETURN_IF_ERROR(JoinSnapshot(parts_.fs, parts_.ranks, snapshot));
    return parts_.ranks.Agree(absl::OkStatus());
  };
}

absl::Status AsyncSaves::Begin() {
  const int64_t began_ns = parts_.clock.MonotonicNanos();
  LS_RETURN_IF_ERROR(Finish());
  const auto step = static_cast<int64_t>(parts_.stepper.state().iterations);
  if (parts_.faults != nullptr) parts_.faults->BeginStep(step, 0);
  return saver_.Begin(
      parts_.stepper.registry(), parts_.ranks.rank(),
      parts_.stepper.device().threads(),
      parts_.folder != nullptr ? Lead(step, began_ns) : Follow());
}

absl::Status AsyncSaves::Finish() { return saver_.Finish(); }

absl::Status AsyncSaves::FinishAfter(const absl::Status& why) {
  if (absl::IsUnavailable(why)) {  // nobody would answer
    saver_.GiveUp();
    return why;
  }
  const absl::Status saved = saver_.Finish();
  return saved.ok() || absl::IsUnavailable(saved) ? why : saved;
}

}  // namespace lockstep
