// Which samples each step of a recipe, or of a run, reads.
//
// What it is: the batch schedule, the skip list and what a run has recorded of
// its steps, put together. What it is not: a reader of samples: it opens no
// token file (data_order_verb.cc does, to say where a sample lies). Why so: a
// step's samples follow from these three alone; steps that a run has done are
// given as it did them, whatever a recipe says by now.
#ifndef LOCKSTEP_TOOLS_STEP_ORDER_H_
#define LOCKSTEP_TOOLS_STEP_ORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/batch_schedule.h"
#include "tools/recorded_steps.h"
#include "tools/skip_list.h"

namespace lockstep {

class StepOrder {
 public:
  // Of a recipe alone, from step 1.
  explicit StepOrder(const BatchSchedule& batches) : batches_(batches) {}

  // Of the run in `run_dir`, whose steps to come have the batches of
  // `batches`. ManifestMismatch: its ledger does not say what it must.
  static absl::StatusOr<StepOrder> OfRun(FileSystem& fs,
                                         const std::string& run_dir,
                                         const BatchSchedule& batches);

  // Stands before `step`, from 1 on. InputError for a step that a fork's
  // parent did.
  absl::Status Seek(int64_t step);
  // The samples of the step it stands before; then stands before the next.
  // ManifestMismatch where ledger and metrics of a run do not agree.
  absl::StatusOr<std::vector<uint64_t>> Next();

 private:
  // Where the steps of a fork begin, as its ledger has it.
  absl::Status ReadOrigin(FileSystem& fs, const std::string& run_dir);

  BatchSchedule batches_;
  std::string run_dir_ = {};
  RecordedSteps recorded_ = {};
  SampleStream stream_ = SampleStream();
  int64_t first_step_ = 1;  // a fork's own; it begins with:
  uint64_t first_seen_ = 0;
  uint64_t first_cursor_ = 0;
  int64_t step_ = 1;
  uint64_t seen_ = 0;  // before step_
  uint64_t cursor_ = 0;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_STEP_ORDER_H_
