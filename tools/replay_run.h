// A run done again on one rank, step by step, as its caller asks.
//
// What it is: a run's folder opened read-only, in a Stepper that stands before
// a step and takes the same steps that the run took; each is compared with the
// line that the run left in metrics.jsonl. What it is not: a resume: no lock,
// no file is written anywhere below the run's folder, and a trainer may be
// alive on it. Nor a verdict: what a step that does not recur means is for its
// caller. Why so: explain, replay, bisect and verify ask different questions of
// the same thing, and must not each have their own idea of which recipe, data,
// checkpoint and faults a step was made with.
//
//   LS_ASSIGN_OR_RETURN(auto run, ReplayRun::Open(fs, dir, {.before = 40}));
//   run->AddObserver(trace);               // from here on
//   LS_ASSIGN_OR_RETURN(ReplayedStep step, run->Step());   // step 40
//   if (!step.recurs()) ...
//
// Recipe: that of the launch which made the step `before` (launches.h), for all
// steps that are taken. Where the run changed its recipe between the checkpoint
// and that step, and kept no checkpoint in between, a note and the comparison
// say so. Data: the token files that the run read, held
// against the manifest's hashes; nothing is prepared. Faults on purpose: those
// of RUN/faults.json that change numbers, in the steps of the launch that had
// them; callers cannot see them.
#ifndef LOCKSTEP_TOOLS_REPLAY_RUN_H_
#define LOCKSTEP_TOOLS_REPLAY_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/operation.h"
#include "parallel/communicator.h"
#include "tools/replay_source.h"
#include "tools/stepper.h"

namespace lockstep {

class ReplayRun {
 public:
  // Opens `run_dir` and takes the steps up to `before`, exclusive. InputError:
  // no run there, `before` is no step that the run has done or was about to do,
  // data that are gone or are not what the run read. NoUsableCheckpoint: there
  // are checkpoints to begin from and all are damaged. `fs` is borrowed.
  static absl::StatusOr<std::unique_ptr<ReplayRun>> Open(
      FileSystem& fs, const std::string& run_dir, const ReplayOptions& options);
  ~ReplayRun();

  // The next step. NumericFailure as in the run, where the run stopped so;
  // samples() then still has the step's losses.
  absl::StatusOr<ReplayedStep> Step();
  // Steps until `step` is the next. Each must recur for the state to be the
  // run's: the first that does not is remembered in first_difference().
  absl::Status SeekTo(int64_t step);

  // From the next step on; not owned.
  void AddObserver(OperationObserver* observer);

  // Of the last Step(): ids, tokens, masks and losses.
  const StepSamples& samples() const { return stepper_->last_samples(); }
  int64_t next_step() const {
    return static_cast<int64_t>(stepper_->state().iterations) + 1;
  }
  // 1, or the step after the one that a fork grew from.
  int64_t first_step() const { return source_->first_step(); }
  // Where stepping began: a checkpoint's step, or 0.
  int64_t began_at() const { return source_->began_at(); }
  // First step that was compared and did not recur; 0 while there is none.
  int64_t first_difference() const { return first_difference_; }
  // What a person should know: checkpoints passed over, another binary.
  const std::vector<std::string>& notes() const { return source_->notes(); }

  const Manifest& manifest() const { return source_->manifest(); }
  const RunConfig& config() const { return stepper_->config(); }
  const Dataset& dataset() const { return source_->dataset(); }
  const RecordedSteps& recorded() const { return source_->recorded(); }
  Stepper& stepper() { return *stepper_; }

 private:
  explicit ReplayRun(std::unique_ptr<ReplaySource> source);
  absl::Status MakeStepper(const ReplayOptions& options);

  std::unique_ptr<ReplaySource> source_;
  std::unique_ptr<ReplaySource::Faults> faults_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Stepper> stepper_;
  int64_t first_difference_ = 0;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_RUN_H_
