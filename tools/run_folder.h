// A run's folder, opened by the one trainer that may write to it.
//
// What it is: lock, ledger, manifest and checkpoints of one run, and the
// decision where to start: fresh, or from which checkpoint, under which allowed
// differences. What it is not: the loop. Why so: everything that can refuse a
// resume happens here, before any rank does work.
#ifndef LOCKSTEP_TOOLS_RUN_FOLDER_H_
#define LOCKSTEP_TOOLS_RUN_FOLDER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/checkpoint_config.h"
#include "ckpt/checkpoint_index.h"
#include "ckpt/find.h"
#include "ckpt/ledger.h"
#include "ckpt/manifest.h"
#include "ckpt/run_lock.h"
#include "ckpt/save.h"
#include "determinism/clock.h"
#include "determinism/file_system.h"
#include "tools/difference_record.h"
#include "tools/fork.h"
#include "tools/stepper.h"

namespace lockstep {

// Of one save, in milliseconds.
struct SaveTimes {
  double stall_ms = 0;  // that steps waited for it
  double save_ms = 0;   // from its beginning until it was committed
};

struct Allowance {
  std::vector<std::string> keys;
  std::string reason;
};

class RunFolder {
 public:
  // Makes the folder if need be, takes the lock, cleans what a killed trainer
  // left and verifies the ledger. The file system and clock are borrowed.
  static absl::StatusOr<std::unique_ptr<RunFolder>> Open(FileSystem& fs,
                                                         Clock& clock,
                                                         std::string dir);

  // Compares `current` with the manifest the run began with, chooses the
  // checkpoint and loads it into the stepper, or starts fresh. Everything it
  // decides is in the ledger and, for people, in notes().
  absl::Status Start(const ResumeRequest& request, const Allowance& allowance,
                     Manifest current, Stepper& stepper);

  // The first launch of a fork, in a folder without a run: compares, loads the
  // parent's state, and saves it as the new run's own first checkpoint, so that
  // the fork needs its parent no more. InputError for a folder that has a run;
  // ManifestMismatch for another model, tokenizer or precision, or for data
  // that `allowance` does not admit.
  absl::Status StartFork(const ForkSource& source, bool keeps_schedule,
                         const Allowance& allowance,
                         const CheckpointConfig& config, Manifest current,
                         Stepper& stepper);

  // A checkpoint of the stepper's state, then retention. Training waits.
  absl::Status Save(Stepper& stepper, const CheckpointConfig& config);
  // The two parts of it that the first rank does alone, for a save that does
  // not keep training: what to save under, as of now; and, on any thread, the
  // records and the retention once that is committed.
  SaveOptions PlanSave(int64_t step) const;
  absl::Status Committed(FileSystem& fs, const SavedCheckpoint& saved,
                         const CheckpointConfig& config,
                         const SaveTimes& times);

  absl::Status Record(std::string_view event, const LedgerFields& fields);
  // InputError once another trainer has taken the run.
  absl::Status CheckStillHolder() const { return lock_->CheckStillHolder(); }

  const std::string& dir() const { return dir_; }
  const std::vector<LedgerEntry>& ledger_entries() const {
    return ledger_->entries();
  }
  const Manifest& manifest() const { return manifest_; }
  // The run's steps begin after this one: a fork's at its parent's.
  int64_t steps_before() const { return manifest_.parent.step; }
  // What happened so far that a person should read; cleared by the call.
  std::vector<std::string> TakeNotes();

 private:
  RunFolder(FileSystem& fs, Clock& clock, std::string dir)
      : fs_(fs), clock_(clock), dir_(std::move(dir)) {}

  absl::Status CheckManifestIsThere(const ResumeRequest& request);
  absl::Status CheckNothingIsLost(const ResumeRequest& request);
  absl::Status CheckManifestIsOurs();
  absl::Status CheckFreshForFork();
  absl::StatusOr<CheckpointIndex> LoadParent(const ForkSource& source,
                                             Stepper& stepper);
  // What was allowed before, and now, goes into `current`.
  absl::Status CheckManifest(const Allowance& allowance,
                             const FoundCheckpoint& found, Manifest& current);
  absl::Status NoteDirtyBuild(const Allowance& allowance, int64_t step,
                              Manifest& current);
  absl::Status StartFresh(Manifest current, Stepper& stepper);
  absl::Status RecordSkipped(const FoundCheckpoint& found);
  absl::Status RecordGone();
  // Of lines that the ledger has lost.
  absl::Status RecordTraces();
  // Whether `current` may go on from there; then it is the run's manifest.
  absl::Status Admit(const FoundCheckpoint& found, const ResumeRequest& request,
                     const Allowance& allowance, Manifest current);
  // From what `index` says was loaded.
  absl::Status GoOn(const FoundCheckpoint& found, const CheckpointIndex& index,
                    Stepper& stepper);
  absl::Status SetAsideAbove(int64_t step);
  // `manifest_` is the saved one. On another layout below `layout_invariant`
  // the steps from here on are of another lineage.
  void NoteLayout(Manifest& current);
  absl::Status RecordLayoutChange(int64_t step, const Stepper& stepper);

  FileSystem& fs_;
  Clock& clock_;
  const std::string dir_;
  std::unique_ptr<RunLock> lock_;
  std::unique_ptr<Ledger> ledger_;
  Manifest manifest_;
  DifferenceRecord differences_;
  std::optional<Manifest::Layout> layout_before_;  // of a resume on another
  bool bits_may_differ_ = false;                   // for that
  std::string manifest_json_;
  bool existing_ = false;
  std::mutex notes_mutex_;
  std::vector<std::string> notes_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_RUN_FOLDER_H_
