// What can refuse a resume: a folder that lost a part, or another manifest.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ckpt/gone_checkpoints.h"
#include "ckpt/ledger_traces.h"
#include "ckpt/manifest_compare.h"
#include "ckpt/verify.h"
#include "determinism/status.h"
#include "tools/run_folder.h"

namespace lockstep {

// Without its manifest nobody can say what the rest of the folder is made of.
absl::Status RunFolder::CheckManifestIsThere(const ResumeRequest& request) {
  if (existing_ || request.mode == ResumeMode::kNever) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs_, dir_));
  const auto& entries = ledger_->entries();
  const bool launched =
      std::any_of(entries.begin(), entries.end(), [](const LedgerEntry& e) {
        return e.event == "launch" || e.event == "fork";
      });
  if (checkpoints.empty() && !launched) return absl::OkStatus();
  return ManifestMismatch(
      "this run has a ledger or checkpoints and no manifest",
      dir_ + "/manifest.json",
      "restore it: every checkpoint's folder holds a copy; or train into "
      "another folder");
}

// A run that has saved since it was launched does not begin again by itself.
absl::Status RunFolder::CheckNothingIsLost(const ResumeRequest& request) {
  if (request.mode == ResumeMode::kNever) return absl::OkStatus();
  bool saved = false;
  for (const LedgerEntry& entry : ledger_->entries()) {
    if (entry.event == "launch") saved = false;
    if (entry.event == "checkpoint") saved = true;
  }
  if (existing_ && !manifest_.parent.run_id.empty()) {
    return NoUsableCheckpoint(
        "this run is a fork and has no checkpoint to go on from",
        dir_ + "/checkpoints",
        absl::StrCat("remove the folder and fork again from ",
                     manifest_.parent.checkpoint));
  }
  if (!saved) return absl::OkStatus();
  LS_RETURN_IF_ERROR(CheckManifestIsOurs());
  return NoUsableCheckpoint(
      "the ledger lists checkpoints of this run and none is left",
      dir_ + "/checkpoints",
      "restore them, or begin again with --resume never");
}

// Checkpoints that are there, and of another run than the manifest.
absl::Status RunFolder::CheckManifestIsOurs() {
  if (!existing_) return absl::OkStatus();
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs_, dir_));
  for (const ListedCheckpoint& checkpoint : checkpoints) {
    const std::string& theirs = checkpoint.run_id;
    if (!checkpoint.complete || theirs == manifest_.run_id) continue;
    return ManifestMismatch(
        absl::StrCat("the manifest is of run ", manifest_.run_id,
                     ", and checkpoints here are of run ", theirs),
        dir_ + "/manifest.json",
        "restore it: every checkpoint's folder holds a copy; or train into "
        "another folder");
  }
  return absl::OkStatus();
}

// On record, the next launch and `ckpt verify` say no more of it.
absl::Status RunFolder::RecordGone() {
  const std::vector<std::string> gone =
      GoneCheckpoints(fs_, dir_, ledger_->entries());
  if (gone.empty()) return absl::OkStatus();
  const std::string why =
      absl::StrCat("passed over ", absl::StrJoin(gone, ", "),
                   ": the ledger has it, and it is gone");
  notes_.push_back(why);
  return Record("checkpoint_skipped", {{"why", why}, {"gone", gone}});
}

absl::Status RunFolder::RecordTraces() {
  const auto& entries = ledger_->entries();
  const std::vector<std::string> traces = TracesOfLostLines(fs_, dir_, entries);
  if (traces.empty()) return absl::OkStatus();
  notes_.push_back(
      absl::StrCat("the ledger has lost lines: ", absl::StrJoin(traces, "; "),
                   "; what they said is known to nobody"));
  return Record("lost_lines", {{"after", static_cast<int64_t>(entries.size())},
                               {"traces", traces}});
}

absl::Status RunFolder::CheckManifest(const Allowance& allowance,
                                      const FoundCheckpoint& found,
                                      Manifest& current) {
  const auto differences =
      CompareManifests(manifest_, current, manifest_.guarantee);
  // A dirty build is admitted by its own rule at launch (train.cc).
  std::vector<std::string> keys = allowance.keys;
  if (allowance.reason.empty()) std::erase(keys, "dirty");
  LS_RETURN_IF_ERROR(CheckDifferences(differences, keys, allowance.reason));
  differences_ = RecordDifferences(manifest_, current, differences, keys);
  current.allowed = manifest_.allowed;
  current.allowed_since = manifest_.allowed_since.value_or(found.step);
  const auto allowed = AllowedDifferences(differences, keys);
  if (allowed.empty()) return absl::OkStatus();
  AddAllAllowed(allowed, allowance.reason, found.step, current);
  notes_.push_back(absl::StrCat("allowed: ", allowance.reason));
  return Record("allowed_difference", {{"differences", differences_.allowed},
                                       {"reason", allowance.reason}});
}

absl::Status RunFolder::NoteDirtyBuild(const Allowance& allowance, int64_t step,
                                       Manifest& current) {
  if (!current.code.dirty) return absl::OkStatus();
  const std::string what = "dirty build of " + current.code.commit;
  AddAllowed(current,
             {"dirty", "", what + ", binary " + current.code.binary_sha256,
              allowance.reason, step});
  return Record("allowed_difference",
                {{"differences", std::vector<std::string>{what}},
                 {"reason", allowance.reason}});
}

}  // namespace lockstep
