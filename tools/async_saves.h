// Checkpoints that are written while training goes on (`checkpoint.async`).
//
// What it is: one rank's part in them: the copy that its steps wait for, and
// the save of it together with the other ranks, on a thread and a communicator
// of their own. What it is not: the protocol (ckpt/save.h) or the ledger's
// lines (run_folder.h). Why so: how long a device takes is no reason to wait;
// that it failed is one to stop at the next step, on all ranks alike.
#ifndef LOCKSTEP_TOOLS_ASYNC_SAVES_H_
#define LOCKSTEP_TOOLS_ASYNC_SAVES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "ckpt/background_saver.h"
#include "determinism/clock.h"
#include "determinism/fault.h"
#include "determinism/file_system.h"
#include "parallel/communicator.h"
#include "tools/run_folder.h"
#include "tools/stepper.h"

namespace lockstep {

class AsyncSaves {
 public:
  struct Parts {
    FileSystem& fs;       // for the other thread
    FaultPlan* faults;    // that breaks its calls; null: none does
    Communicator& ranks;  // for the other thread alone
    Clock& clock;
    RunFolder* folder;  // null on all ranks but the first
    Stepper& stepper;
  };
  // All borrowed.
  explicit AsyncSaves(const Parts& parts) : parts_(parts) {}

  // Room for the copy.
  absl::Status Open();

  // A save of the state as it is now. The one before it is waited for, and its
  // failure is this call's. All ranks call.
  absl::Status Begin();
  // Whether the save under way has failed: then every rank is to call Finish.
  bool Failed() const { return saver_.Failed(); }
  // Waits until the save under way is committed, if there is one.
  absl::Status Finish();
  // The run ends with `why`. A save under way is still committed, unless ranks
  // are lost; if it fails, that came first and is the answer.
  absl::Status FinishAfter(const absl::Status& why);

 private:
  BackgroundSaver::Rest Lead(int64_t step, int64_t began_ns);
  BackgroundSaver::Rest Follow();

  const Parts parts_;
  BackgroundSaver saver_;
};

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_ASYNC_SAVES_H_
