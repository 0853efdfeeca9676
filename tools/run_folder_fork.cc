// The first launch of a fork: another run's state under a manifest of its own.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ckpt/manifest_compare.h"
#include "ckpt/verify.h"
#include "determinism/status.h"
#include "tools/launches.h"
#include "tools/rank_lead.h"
#include "tools/run_folder.h"
#include "tools/state_by_group.h"

namespace lockstep {
namespace {

bool IsOfData(const ManifestDifference& d) {
  return d.verdict == Verdict::kRefused &&
         (d.key == "seed" || d.key.starts_with("data."));
}

std::string ScheduleText(const Manifest& parent, const Manifest& fork,
                         bool kept) {
  return kept ? absl::StrCat("the parent's, ", fork.schedule_length_samples,
                             " samples long")
              : absl::StrCat("resolved anew: ", parent.schedule_length_samples,
                             " -> ", fork.schedule_length_samples, " samples");
}

std::string CursorText(const Stepper& stepper) {
  return absl::StrCat(
      "the cursor stays at ", stepper.state().cursor,
      ": the next sample is the one of that number in the order of the new "
      "data; those before it are not read");
}

Manifest::Parent ParentOf(const ForkSource& source) {
  return {.run_id = source.manifest.run_id,
          .lineage = source.manifest.lineage,
          .step = source.checkpoint.step,
          .checkpoint = source.checkpoint.dir,
          .checkpoint_sha256 = source.checkpoint.index_sha256,
          .ledger_head = source.checkpoint.ledger_head};
}

}  // namespace

// What an earlier, refused launch leaves (a lock, token files) is no run.
absl::Status RunFolder::CheckFreshForFork() {
  LS_ASSIGN_OR_RETURN(const auto checkpoints, ListCheckpoints(fs_, dir_));
  bool launched = false;
  for (const LedgerEntry& entry : ledger_->entries()) {
    launched = launched || entry.event == "launch" || entry.event == "fork";
  }
  if (!fs_.Exists(dir_ + "/manifest.json") && checkpoints.empty() &&
      !launched) {
    return absl::OkStatus();
  }
  return InputError("a fork needs a folder of its own, and this one has a run",
                    dir_,
                    "give --run a new folder; to go on with the run in this "
                    "one, leave --fork out");
}

absl::StatusOr<CheckpointIndex> RunFolder::LoadParent(const ForkSource& source,
                                                      Stepper& stepper) {
  RankLead ranks(fs_, stepper);
  LS_ASSIGN_OR_RETURN(CheckpointIndex index,
                      ranks.Load(source.checkpoint.dir, notes_));
  LS_RETURN_IF_ERROR(ranks.TakeSeed());
  return index;
}

absl::Status RunFolder::StartFork(const ForkSource& source, bool keeps_schedule,
                                  const Allowance& allowance,
                                  const CheckpointConfig& config,
                                  Manifest current, Stepper& stepper) {
  LS_RETURN_IF_ERROR(CheckFreshForFork());
  const auto differences = CompareForFork(source.manifest, current);
  // A dirty build is admitted by its own rule at launch, without a reason too.
  std::vector<std::string> keys = allowance.keys;
  if (allowance.reason.empty()) std::erase(keys, "dirty");
  LS_RETURN_IF_ERROR(CheckDifferences(differences, keys, allowance.reason));
  LS_ASSIGN_OR_RETURN(const CheckpointIndex index, LoadParent(source, stepper));
  const bool other_data =
      std::any_of(differences.begin(), differences.end(), IsOfData);
  current.parent = ParentOf(source);
  current.allowed = source.manifest.allowed;
  current.allowed_since = source.manifest.allowed_since;
  AddAllAllowed(AllowedDifferences(differences, keys), allowance.reason,
                source.checkpoint.step, current);
  LS_RETURN_IF_ERROR(
      NoteDirtyBuild(allowance, source.checkpoint.step, current));
  manifest_ = std::move(current);
  manifest_.ledger_head = ledger_->Head();
  manifest_json_ = ManifestToJson(manifest_);
  // From here on the folder is the fork's: a launch that dies between this and
  // the checkpoint is found by CheckNothingIsLost.
  LS_RETURN_IF_ERROR(WriteManifest(fs_, dir_, manifest_));
  LS_ASSIGN_OR_RETURN(
      const std::string kept,
      KeepLaunch(fs_, dir_, lock_->generation(), manifest_json_));
  const std::string schedule =
      ScheduleText(source.manifest, manifest_, keeps_schedule);
  LS_ASSIGN_OR_RETURN(const StateByGroup restored,
                      RankLead(fs_, stepper).StateOfGroups());
  LedgerFields fields = {
      {"run_id", manifest_.run_id},
      {"lineage", manifest_.lineage},
      {"parent_run_id", manifest_.parent.run_id},
      {"parent_lineage", manifest_.parent.lineage},
      {"step", manifest_.parent.step},
      {"checkpoint", manifest_.parent.checkpoint},
      {"checkpoint_sha256", manifest_.parent.checkpoint_sha256},
      {"parent_ledger_head", manifest_.parent.ledger_head},
      {"schedule", schedule},
      {"samples_seen", static_cast<int64_t>(stepper.state().samples_seen)},
      {"next_sample", static_cast<int64_t>(stepper.state().cursor)},
      {"differences", DescribeDifferences(differences)},
      {"reason", allowance.reason},
      {"commit", manifest_.code.commit},
      {"dirty", manifest_.code.dirty},
      {"threads", manifest_.layout.threads},
      {"faults", manifest_.faults},
      {"steps", stepper.config().Steps()},
      {"manifest", kept},
      {"state", restored.state}};
  AddFingerprints(index, restored, fields);
  notes_.push_back(absl::StrCat("forked from ", manifest_.parent.checkpoint,
                                " of run ", manifest_.parent.run_id,
                                "; schedule: ", schedule));
  if (other_data) {
    const std::string cursor = CursorText(stepper);
    fields.emplace_back("cursor", cursor);
    notes_.push_back("other data: " + cursor);
  }
  LS_RETURN_IF_ERROR(Record("fork", fields));
  return Save(stepper, config);
}

}  // namespace lockstep
