// The train loop: steps a run until it is done, told to stop, or fails.
//
// What it is: the policies around Stepper: metrics, display, evaluation,
// checkpoints, stopping. What it is not: a phase of a step. Why so: none of it
// may change a bit of the trajectory (N12), so none of it is inside the step.
// All ranks run the loop; the first one alone has the run's folder and the
// display.
#ifndef LOCKSTEP_TOOLS_TRAIN_H_
#define LOCKSTEP_TOOLS_TRAIN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/clock.h"
#include "determinism/fault.h"
#include "determinism/file_system.h"
#include "determinism/trace_writer.h"
#include "parallel/communicator.h"
#include "parallel/watchdog.h"
#include "tools/async_saves.h"
#include "tools/metrics.h"
#include "tools/progress.h"
#include "tools/run_folder.h"
#include "tools/signals.h"
#include "tools/stepper.h"
#include "tools/tensorboard.h"

namespace lockstep {

struct TrainResult {
  int64_t steps = 0;        // done in all
  double loss = 0;          // of the last step; 0 if none ran
  std::string unseed;       // the state's fingerprint at the end
  double tokens_per_s = 0;  // over the steps that this process ran
  double mfu = 0;
  // The most that any rank has asked its device for (model/device.h).
  int64_t peak_bytes = 0;
  // Of a step, mean over ranks: time in which a rank waited for messages or for
  // other ranks, and computed nothing.
  double exposed_comm_ms = 0;
  int stopped_by = 0;  // a signal, or 0
};

class TrainLoop {
 public:
  struct Parts {
    FileSystem& fs;
    Clock& clock;
    std::string run_dir;
    RunFolder* folder;  // null on all ranks but the first
    // Of saves that training does not wait for.
    struct Saves {
      FileSystem* fs;
      FaultPlan* faults;    // null: none
      Communicator* ranks;  // null: there can be no such saves
    } saves;
    Stepper& stepper;
    Progress& progress;
    Watchdog* watchdog;          // null: one rank
    const StopSignals* signals;  // null: another rank of this process has them
    double peak_flops;           // of all ranks' threads, for mfu; 0: unknown
  };
  // All borrowed.
  explicit TrainLoop(const Parts& parts);

  // Runs up to `last_step`, saving at the end. Every rank gets the same answer,
  // or RankLost.
  absl::StatusOr<TrainResult> Run(int64_t last_step);

 private:
  absl::StatusOr<TrainResult> TakeSteps(int64_t last_step);
  absl::Status Open();
  absl::Status OpenFiles();
  absl::Status OpenSaves();
  absl::Status OpenTrace();
  absl::Status OpenEvents();
  absl::Status ShowScalars(int64_t step, const Scalars& scalars);
  absl::Status StopEvents(const absl::Status& why);
  absl::StatusOr<StepReport> TimedStep();
  absl::StatusOr<int> StopRequest();
  int64_t WaitedNs() const;
  absl::Status SumUp(TrainResult& result) const;
  absl::Status Write(const StepReport& report);
  absl::Status Finish(TrainResult& result);
  absl::Status AfterStep(const StepReport& report, bool last);
  absl::Status RecordOddities(const StepReport& report);
  absl::Status RecordGrid(const StepReport& report);
  absl::Status EvaluateNow(int64_t step);
  absl::Status SaveNow(bool last);
  absl::Status SaveWaiting();
  absl::Status FinishSave();
  void SayNotes();

  FileSystem& fs_;
  Clock& clock_;
  const std::string run_dir_;
  RunFolder* const folder_;
  const Parts::Saves saves_;
  Stepper& stepper_;
  Progress& progress_;
  Watchdog* const watchdog_;
  const StopSignals* const signals_;
  const double peak_flops_;
  std::unique_ptr<MetricsFile> metrics_;
  std::unique_ptr<MetricsFile> evaluations_;
  std::unique_ptr<TraceWriter> trace_;
  std::unique_ptr<EventFile> events_;
  int64_t busy_ns_ = 0;
  int64_t tokens_ = 0;
  int64_t steps_ = 0;
  int64_t waited_ns_ = 0;
  std::set<std::string> warned_;  // tensors told to lose entries of the grid
  std::optional<AsyncSaves> async_saves_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_TRAIN_H_
