#include "tools/run_folder.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ckpt/bounded_read.h"
#include "ckpt/save.h"
#include "determinism/status.h"
#include "tools/launches.h"
#include "tools/rank_lead.h"
#include "tools/restore.h"
#include "tools/state_by_group.h"

namespace lockstep {
namespace {

// The ledger said so when it was opened, unless a launch has worked since.
void NoteLostLines(const std::vector<LedgerEntry>& entries,
                   std::vector<std::string>& notes) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (entry->event == "torn_line") continue;
    if (entry->event != "lost_lines") return;
    const std::string head = entry->Field("head");
    if (head.empty()) continue;  // of traces (RecordTraces)
    const bool known = head != "missing" && head != "unreadable";
    notes.push_back(absl::StrCat(
        known ? "the ledger has lost lines: after line "
              : "nobody can say whether the ledger has lost lines after line ",
        entry->Field("after"), ", and ledger_head is ", head));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunFolder>> RunFolder::Open(FileSystem& fs,
                                                           Clock& clock,
                                                           std::string dir) {
  std::unique_ptr<RunFolder> folder(new RunFolder(fs, clock, std::move(dir)));
  if (const absl::Status made = fs.MakeDirs(folder->dir_); !made.ok()) {
    return InputError("the run's folder cannot be made", folder->dir_,
                      std::string(made.message()));
  }
  LS_ASSIGN_OR_RETURN(folder->lock_,
                      RunLock::Acquire(fs, *PosixFileLocker(), folder->dir_,
                                       ThisProcess(), clock));
  LS_ASSIGN_OR_RETURN(folder->notes_, CleanLeftovers(fs, folder->dir_));
  LS_ASSIGN_OR_RETURN(folder->ledger_, Ledger::Open(fs, folder->dir_, clock,
                                                    folder->lock_.get()));
  NoteLostLines(folder->ledger_->entries(), folder->notes_);
  LS_RETURN_IF_ERROR(folder->RecordTraces());
  return folder;
}

absl::Status RunFolder::Record(std::string_view event,
                               const LedgerFields& fields) {
  const char* const attempt = std::getenv("LOCKSTEP_ATTEMPT");
  if (attempt == nullptr ||
      (event != "launch" && event != "resume" && event != "fork")) {
    return ledger_->Append(event, fields);
  }
  // What ranks say in the end has it too (last_words.h).
  LedgerFields all = fields;
  all.push_back({"attempt", std::string(attempt)});
  return ledger_->Append(event, all);
}

absl::Status RunFolder::Start(const ResumeRequest& request,
                              const Allowance& allowance, Manifest current,
                              Stepper& stepper) {
  existing_ = fs_.Exists(dir_ + "/manifest.json");
  std::string run_id;
  if (existing_) {
    auto manifest = ReadManifest(fs_, dir_);
    if (!manifest.ok()) return AsDamageAtResume(manifest.status());
    manifest_ = *std::move(manifest);
    run_id = manifest_.run_id;
  }
  LS_RETURN_IF_ERROR(CheckManifestIsThere(request));
  const bool may_walk = request.mode != ResumeMode::kPath;
  for (ResumeRequest left = request;;) {
    LS_ASSIGN_OR_RETURN(const FoundCheckpoint found,
                        FindCheckpoint(fs_, dir_, left, run_id));
    if (found.fresh) LS_RETURN_IF_ERROR(CheckNothingIsLost(request));
    LS_RETURN_IF_ERROR(RecordSkipped(found));
    LS_RETURN_IF_ERROR(Admit(found, request, allowance, current));
    if (found.fresh) return StartFresh(std::move(manifest_), stepper);
    const auto index = RankLead(fs_, stepper).Load(found.dir, notes_);
    if (index.ok()) {
      LS_RETURN_IF_ERROR(RecordGone());
      return GoOn(found, *index, stepper);
    }
    if (!absl::IsDataLoss(index.status()) || !may_walk) return index.status();
    left.unfit[found.dir] = WhyUnfit(index.status());
  }
}

// Once each, however often they are looked for.
absl::Status RunFolder::RecordSkipped(const FoundCheckpoint& found) {
  for (const std::string& note : found.notes) {
    if (std::find(notes_.begin(), notes_.end(), note) != notes_.end()) continue;
    notes_.push_back(note);
    if (found.fresh) continue;  // there was nothing to pass over
    LS_RETURN_IF_ERROR(Record("checkpoint_skipped", {{"why", note}}));
  }
  return absl::OkStatus();
}

absl::Status RunFolder::Admit(const FoundCheckpoint& found,
                              const ResumeRequest& request,
                              const Allowance& allowance, Manifest current) {
  // A difference that was allowed once is in the manifests of later
  // checkpoints, so it is asked about once.
  if (!found.fresh) {
    LS_ASSIGN_OR_RETURN(manifest_, ReadManifest(fs_, found.dir));
  }
  if (existing_ && request.mode != ResumeMode::kNever) {
    LS_RETURN_IF_ERROR(CheckManifest(allowance, found, current));
    NoteLayout(current);
    current.run_id = manifest_.run_id;
    current.parent = manifest_.parent;
    current.created_ms = manifest_.created_ms;
  }
  LS_RETURN_IF_ERROR(NoteDirtyBuild(allowance, found.step, current));
  manifest_ = std::move(current);
  return found.fresh ? absl::OkStatus()
                     : ledger_->CheckHolds(found.ledger_head, found.dir);
}

absl::Status RunFolder::StartFresh(Manifest current, Stepper& stepper) {
  LS_RETURN_IF_ERROR(SetAsideAbove(-1));
  manifest_ = std::move(current);
  manifest_.allowed_since = 0;  // of the steps to come there were none before
  manifest_.ledger_head = ledger_->Head();
  manifest_json_ = ManifestToJson(manifest_);
  LS_RETURN_IF_ERROR(WriteManifest(fs_, dir_, manifest_));
  LS_ASSIGN_OR_RETURN(
      const std::string kept,
      KeepLaunch(fs_, dir_, lock_->generation(), manifest_json_));
  RankLead ranks(fs_, stepper);
  LS_RETURN_IF_ERROR(ranks.Initialise());
  LS_ASSIGN_OR_RETURN(const std::string state, ranks.StateField());
  return Record("launch", {{"run_id", manifest_.run_id},
                           {"lineage", manifest_.lineage},
                           {"steps", stepper.config().Steps()},
                           {"commit", manifest_.code.commit},
                           {"dirty", manifest_.code.dirty},
                           {"trajectory", manifest_.recipe.trajectory},
                           {"full", manifest_.recipe.full},
                           {"threads", manifest_.layout.threads},
                           {"faults", manifest_.faults},
                           {"manifest", kept},
                           {"state", state},
                           {"harmless", differences_.harmless},
                           {"allowed", differences_.allowed}});
}

absl::Status RunFolder::GoOn(const FoundCheckpoint& found,
                             const CheckpointIndex& index, Stepper& stepper) {
  RankLead ranks(fs_, stepper);
  LS_ASSIGN_OR_RETURN(const StateByGroup restored, ranks.StateOfGroups());
  LS_RETURN_IF_ERROR(SetAsideAbove(found.step));
  manifest_.ledger_head = ledger_->Head();
  manifest_json_ = ManifestToJson(manifest_);
  LS_ASSIGN_OR_RETURN(
      const std::string kept,
      KeepLaunch(fs_, dir_, lock_->generation(), manifest_json_));
  notes_.push_back(absl::StrCat("resumed from ", found.dir));
  LedgerFields fields = {{"step", found.step},
                         {"steps", stepper.config().Steps()},
                         {"checkpoint", found.dir},
                         {"state_saved", index.state_fingerprint},
                         {"state_restored", restored.state},
                         {"commit", manifest_.code.commit},
                         {"dirty", manifest_.code.dirty},
                         {"threads", manifest_.layout.threads},
                         {"manifest", kept},
                         {"faults", manifest_.faults}};
  AddTo(fields, differences_);
  AddFingerprints(index, restored, fields);
  LS_RETURN_IF_ERROR(Record("resume", fields));
  return RecordLayoutChange(found.step, stepper);
}

}  // namespace lockstep
