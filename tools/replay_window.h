// Steps of a run done again on all ranks of a layout.
//
// What it is: a window of steps from the checkpoint before it, every rank a
// thread of this process with a stepper of its own, each step compared with the
// line that the run left. By default the layout is the one that the run had:
// below `layout_invariant` no other has its bits, and a fault of one rank is
// met by that rank. What it is not: a resume (nothing is written below the
// run's folder), or a verdict. Why so: replay, verify and bisect ask different
// questions of the same steps.
#ifndef LOCKSTEP_TOOLS_REPLAY_WINDOW_H_
#define LOCKSTEP_TOOLS_REPLAY_WINDOW_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "determinism/dtype.h"
#include "determinism/file_system.h"
#include "tools/replay_source.h"
#include "tools/skip_list.h"
#include "tools/stepper.h"

namespace lockstep {

struct WindowOptions {
  int64_t from = 1;  // inclusive, both
  int64_t to = 1;
  int64_t checkpoint_at_most = -1;  // as in ReplayOptions
  bool from_seed = false;
  // Over the run's recipe; its layout among them.
  std::vector<std::string> sets = {};
  // Samples that the window passes over, from the place where it begins.
  std::vector<SkipRange> skips = {};
  // Compute threads of a rank; 0: what --threads of `train` would be.
  int64_t threads = 0;
  // The threads of ranks stand in the opposite order on the cores that the
  // process may use, each rank on cores of its own: another place for the same
  // work. Not with fewer cores than ranks.
  bool swap_ranks = false;
  // A step of the window may be refused by its numbers, as when the run was
  // stopped by them: it ends the window. Else that is an error.
  bool may_stop = false;
};

// Called on the rank's own thread, of all ranks at once.
struct WindowVisitor {
  // After each step that leads up to the window.
  std::function<absl::Status(int rank, Stepper&, const ReplayedStep&)> before =
      {};
  // Before the step `from`: the place for observers.
  std::function<absl::Status(int rank, Stepper&)> begin = {};
  // After each step of the window, also one that was refused.
  std::function<absl::Status(int rank, Stepper&, const ReplayedStep&)> step =
      {};
};

struct ReplayedWindow {
  // Of the window, the first rank's; one that was refused is the last.
  std::vector<ReplayedStep> steps = {};
  int64_t began_at = 0;           // a checkpoint's step, or 0: the seed
  int64_t first_difference = 0;   // first step from there on that did not recur
  int64_t other_layout_from = 0;  // the run had another one from here; 0: none
  int ranks = 1;
  DType storage = DType::kF32;          // of activations
  std::vector<std::string> notes = {};  // what a person should know
};

// Errors of ReplaySource::Open; InputError for an empty window; of the steps.
absl::StatusOr<ReplayedWindow> ReplayWindow(FileSystem& fs,
                                            const std::string& run_dir,
                                            const WindowOptions& options,
                                            const WindowVisitor& visitor = {});

// ReplayedWindow::began_at, before any step is done: all ranks load what they
// would begin from.
absl::StatusOr<int64_t> WhereReplayBegins(FileSystem& fs,
                                          const std::string& run_dir,
                                          const WindowOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_WINDOW_H_
