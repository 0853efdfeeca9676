#include "ckpt/find.h"

#include <utility>

#include "ckpt/checkpoint_index.h"
#include "ckpt/verify.h"
#include "determinism/status.h"

namespace lockstep {
namespace {

FoundCheckpoint Found(const std::string& dir, VerifyResult result) {
  FoundCheckpoint found;
  found.dir = dir;
  found.step = result.index.step;
  found.run_id = result.index.run_id;
  found.index_sha256 = result.index_sha256;
  found.ledger_head = result.index.ledger_head;
  return found;
}

std::string JoinNotes(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "\n    " + note;
  return text;
}

absl::StatusOr<FoundCheckpoint> FreshStart(const ResumeRequest& request,
                                           const std::string& parent,
                                           std::vector<std::string> notes) {
  if (request.mode == ResumeMode::kMust) {
    return NoUsableCheckpoint(
        "--resume must, and there is no checkpoint of this run" +
            JoinNotes(notes),
        parent,
        "check --run; or start anew with --resume auto or --resume never");
  }
  FoundCheckpoint fresh;
  fresh.fresh = true;
  fresh.notes = std::move(notes);
  fresh.notes.push_back("no checkpoint in " + parent +
                        ": a FRESH START at step 0");
  return fresh;
}

absl::StatusOr<FoundCheckpoint> FindNewest(FileSystem& file_system,
                                           const std::string& run_dir,
                                           const ResumeRequest& request,
                                           const std::string& run_id) {
  const std::string parent = CheckpointsDir(run_dir);
  LS_ASSIGN_OR_RETURN(const std::vector<ListedCheckpoint> listed,
                      ListCheckpoints(file_system, run_dir));
  std::vector<std::string> notes;
  bool any_of_ours = false;
  for (auto c = listed.rbegin(); c != listed.rend(); ++c) {
    if (c->step > request.at_most_step) continue;
    if (!run_id.empty() && !c->run_id.empty() && c->run_id != run_id) {
      notes.push_back("passed over " + c->name + ": it belongs to run " +
                      c->run_id);
      continue;
    }
    any_of_ours = true;
    if (const auto unfit = request.unfit.find(c->dir);
        unfit != request.unfit.end()) {
      notes.push_back("passed over " + c->name + ": " + unfit->second);
      continue;
    }
    absl::StatusOr<VerifyResult> result = VerifyCheckpoint(file_system, c->dir);
    if (result.ok() && result->ok) {
      FoundCheckpoint found = Found(c->dir, *std::move(result));
      found.notes = std::move(notes);
      return found;
    }
    notes.push_back("passed over " + c->name + ": " +
                    (result.ok() ? result->Summary()
                                 : std::string(result.status().message())));
  }
  if (any_of_ours) {
    return NoUsableCheckpoint(
        "checkpoints exist and none is usable:" + JoinNotes(notes), parent,
        "restore one from a backup; or start anew (--resume never of a "
        "launch, --from-seed of a replay)");
  }
  return FreshStart(request, parent, std::move(notes));
}

absl::Status NotACheckpoint(FileSystem& file_system, const std::string& dir) {
  if (dir.empty() || !file_system.Exists(dir)) {
    return InputError("there is no such checkpoint", dir,
                      "name a folder (of --resume also auto, must, never) "
                      "RUN/checkpoints/step_NNNNNNNN");
  }
  if (file_system.Exists(CheckpointsDir(dir))) {
    return InputError("this is a run's folder, not a checkpoint's", dir,
                      "name one of the folders in " + CheckpointsDir(dir));
  }
  // One that lost its index still has its name.
  if (!file_system.Exists(JoinPath(dir, kIndexFile)) &&
      StepOfCheckpointName(BaseName(dir)) < 0) {
    return InputError("this is no checkpoint's folder", dir,
                      "name a folder step_NNNNNNNN of RUN/checkpoints, which "
                      "holds an " +
                          std::string(kIndexFile));
  }
  return absl::OkStatus();
}

absl::StatusOr<FoundCheckpoint> FindPath(FileSystem& file_system,
                                         const std::string& run_dir,
                                         std::string dir,
                                         const std::string& run_id) {
  while (dir.size() > 1 && dir.back() == '/') dir.pop_back();
  const std::string inside = JoinPath(CheckpointsDir(run_dir), dir);
  if (!dir.empty() && !file_system.Exists(dir) && file_system.Exists(inside)) {
    dir = inside;
  }
  LS_RETURN_IF_ERROR(NotACheckpoint(file_system, dir));
  LS_ASSIGN_OR_RETURN(VerifyResult result, VerifyCheckpoint(file_system, dir));
  if (!result.ok) {
    return NoUsableCheckpoint(
        "the checkpoint is damaged: " + result.Summary(), dir,
        "name another, or none: the newest sound one is taken");
  }
  if (!run_id.empty() && result.index.run_id != run_id) {
    return InputError(
        "this checkpoint belongs to run " + result.index.run_id + ", not to " +
            run_id,
        dir, "name a checkpoint of this run, or train into another folder");
  }
  return Found(dir, std::move(result));
}

}  // namespace

ResumeRequest ParseResume(std::string_view text) {
  if (text == "auto") return {ResumeMode::kAuto, ""};
  if (text == "must") return {ResumeMode::kMust, ""};
  if (text == "never") return {ResumeMode::kNever, ""};
  return {ResumeMode::kPath, std::string(text)};
}

absl::StatusOr<FoundCheckpoint> FindCheckpoint(FileSystem& file_system,
                                               const std::string& run_dir,
                                               const ResumeRequest& request,
                                               const std::string& run_id) {
  switch (request.mode) {
    case ResumeMode::kPath:
      return FindPath(file_system, run_dir, request.path, run_id);
    case ResumeMode::kNever: {
      FoundCheckpoint fresh;
      fresh.fresh = true;
      fresh.notes = {"--resume never: a FRESH START at step 0"};
      return fresh;
    }
    case ResumeMode::kAuto:
    case ResumeMode::kMust:
      break;
  }
  return FindNewest(file_system, run_dir, request, run_id);
}

}  // namespace lockstep
