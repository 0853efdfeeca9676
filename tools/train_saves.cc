// When the train loop saves, and when it waits for that.
#include "absl/strings/str_cat.h"
#include "determinism/status.h"
#include "tools/rank_lead.h"
#include "tools/train.h"

namespace lockstep {

// A run that saves at its end alone needs no room for a copy.
absl::Status TrainLoop::OpenSaves() {
  const CheckpointConfig& config = stepper_.config().checkpoint;
  if (!config.async || config.every == 0) return absl::OkStatus();
  if (saves_.ranks == nullptr) {
    if (folder_ != nullptr) {
      progress_.Warn(
          "steps wait for checkpoints: this MPI takes calls from one thread "
          "only (checkpoint.async)");
    }
    return absl::OkStatus();
  }
  async_saves_.emplace(AsyncSaves::Parts{.fs = *saves_.fs,
                                         .faults = saves_.faults,
                                         .ranks = *saves_.ranks,
                                         .clock = clock_,
                                         .folder = folder_,
                                         .stepper = stepper_});
  return async_saves_->Open();
}

// The last state is saved where it stands: there are no more steps to wait.
absl::Status TrainLoop::SaveNow(bool last) {
  stepper_.AnnounceSave();
  if (async_saves_ && !last) {
    LS_RETURN_IF_ERROR(async_saves_->Begin());
    progress_.Note(absl::StrCat("step ", stepper_.state().iterations,
                                " is copied, and saved beside the next ones"));
    SayNotes();
    return absl::OkStatus();
  }
  LS_RETURN_IF_ERROR(FinishSave());
  LS_RETURN_IF_ERROR(SaveWaiting());
  progress_.Note(
      absl::StrCat("step ", stepper_.state().iterations, " is saved"));
  return absl::OkStatus();
}

absl::Status TrainLoop::SaveWaiting() {
  if (folder_ == nullptr) return FollowLead(fs_, stepper_);
  const absl::Status saved =
      folder_->Save(stepper_, stepper_.config().checkpoint);
  LS_RETURN_IF_ERROR(RankLead(fs_, stepper_).End(saved));
  SayNotes();
  return absl::OkStatus();
}

absl::Status TrainLoop::FinishSave() {
  return async_saves_ ? async_saves_->Finish() : absl::OkStatus();
}

void TrainLoop::SayNotes() {
  if (folder_ == nullptr) return;
  for (const std::string& note : folder_->TakeNotes()) progress_.Warn(note);
}

}  // namespace lockstep
