// What a step of a run is done again with: recipe, data, checkpoint, skips and
// the faults that were planted, whatever ranks do it.
//
// What it is: the read-only side of a run's folder, opened once and shared by
// all ranks of a replay. What it is not: steppers (replay_run.h has one rank,
// replay_window.h the ranks of a layout). Why so: explain, replay, verify and
// bisect must not each have their own idea of what a step was made of.
#ifndef LOCKSTEP_TOOLS_REPLAY_SOURCE_H_
#define LOCKSTEP_TOOLS_REPLAY_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ckpt/find.h"
#include "ckpt/manifest.h"
#include "data/dataset.h"
#include "determinism/file_system.h"
#include "tools/recorded_steps.h"
#include "tools/recorded_stop.h"
#include "tools/run_config.h"
#include "tools/run_setup.h"
#include "tools/stepper.h"

namespace lockstep {

struct ReplayOptions {
  // Stands before this step once open: it is what the first Step() does.
  int64_t before = 1;
  // The newest good checkpoint at or before this step is where stepping
  // begins; -1 means before - 1. Earlier: more steps, which nobody sees.
  int64_t checkpoint_at_most = -1;
  // Initialises from the seed whatever checkpoints there are.
  bool from_seed = false;
  // "section.key=value" over the run's own recipe: a step that was not.
  std::vector<std::string> sets = {};
  Machine machine = {};
};

// One step, done again.
struct ReplayedStep {
  StepReport report;
  // metrics.jsonl has this step, or it is the one that stopped the run.
  bool recorded = false;
  // Fields of it that came out otherwise; "stop": whether, why or where the
  // numbers refused it.
  std::vector<std::string> differences = {};
  // Why they did, without what to do; then the report is empty but for the
  // step, and no state moved. Empty: the step was done.
  std::string stopped = {};

  // To the bit: every field of the line, fingerprints included, but times. Of a
  // step that was refused no bits are on record: for the same reason.
  bool recurs() const { return recorded && differences.empty(); }
};

class ReplaySource {
 public:
  // InputError: no run there, `before` is no step that the run has done or was
  // about to do, data that are gone or are not what the run read.
  // NoUsableCheckpoint: there are checkpoints to begin from and all are
  // damaged. InputError: `sets` make another model, which has no place for a
  // checkpoint's state. `fs` is borrowed.
  static absl::StatusOr<std::unique_ptr<ReplaySource>> Open(
      FileSystem& fs, const std::string& run_dir, const ReplayOptions& options);
  ~ReplaySource();

  // Puts a stepper of this source's config where stepping begins; from there on
  // it also passes over `skips`. Collective over the stepper's ranks.
  // NoUsableCheckpoint, on all of them: every byte of the checkpoint holds, and
  // it cannot be loaded.
  absl::Status Restore(Stepper& stepper,
                       const std::vector<SkipRange>& skips = {}) const;
  // After that: stepping begins at an older checkpoint, and notes() say why.
  // NoUsableCheckpoint, naming all, where there is none. No rank is at work.
  absl::Status PassOver(const absl::Status& load);
  // The report of a step beside what the run recorded.
  ReplayedStep Compare(StepReport report) const;
  // A step that its numbers refused, likewise.
  ReplayedStep CompareStop(int64_t step, const absl::Status& refused) const;

  // What rank `rank` of the run met; callers cannot see it.
  struct Faults;
  std::unique_ptr<Faults> FaultsOf(int rank) const;

  int64_t first_step() const { return manifest_.parent.step + 1; }
  int64_t began_at() const { return found_.fresh ? 0 : found_.step; }
  const std::vector<std::string>& notes() const { return notes_; }
  const Manifest& manifest() const { return manifest_; }
  // Of the run's own layout; whoever takes another sets it.
  const RunConfig& config() const { return config_; }
  RunConfig& config() { return config_; }
  const Dataset& dataset() const { return *dataset_; }
  const RecordedSteps& recorded() const { return recorded_; }
  const RecordedStop& recorded_stop() const { return stop_; }

 private:
  ReplaySource(FileSystem& fs, std::string run_dir);
  absl::Status OpenAll(const ReplayOptions& options);
  absl::Status CheckStep(int64_t step) const;
  absl::Status CheckSets(const ReplayOptions& options) const;
  absl::Status FindStart();
  // Notes that stepping began before the recipe of `step` was in force.
  absl::Status NoteOtherRecipe(int64_t step);

  FileSystem& fs_;
  const std::string run_dir_;
  RecordedSteps recorded_;
  RecordedStop stop_;
  Manifest manifest_;
  RunConfig config_;
  int64_t before_ = 1;
  ResumeRequest request_;
  FoundCheckpoint found_;
  std::vector<SkipRange> skips_;
  struct Planted;
  std::unique_ptr<Planted> planted_;
  std::unique_ptr<Dataset> dataset_;
  std::vector<std::string> notes_;
  size_t notes_of_the_run_ = 0;  // the first; what follows is of the start
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_SOURCE_H_
