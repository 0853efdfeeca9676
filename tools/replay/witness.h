// A window whose steps did not recur: asked again, in other places.
//
// What it is: a second replay with the ranks on other cores, on the top rung a
// third on another layout, and where two replays part, or where the run left a
// trace of its own, the rank and operation at which they do. What it is not:
// the first replay, or a proof: it says who agrees with whom. Why so: bits that
// do not recur are a machine's doing, and a machine is repaired by rank and not
// by step.
#ifndef LOCKSTEP_TOOLS_REPLAY_WITNESS_H_
#define LOCKSTEP_TOOLS_REPLAY_WITNESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/replay_window.h"
#include "tools/trace_diff/trace_diff.h"

namespace lockstep {

// ReplayWindow of one run; a test gives another.
using Replayer = std::function<absl::StatusOr<ReplayedWindow>(
    const WindowOptions&, const WindowVisitor&)>;

struct WitnessOptions {
  std::string run_dir;
  std::string scratch;         // a folder for traces, which exists
  bool layouts_agree = false;  // the rung promises the same bits on any layout
};

struct Witness {
  bool swapped = false;   // the second replay had its ranks on other cores
  int64_t parted_at = 0;  // step at which two replays differ; 0: none
  // Where they part, or where the run's own trace parts from a replay's.
  std::optional<TraceDifference> parting = {};
  bool of_record = false;  // `parting`: of the run's own trace
  // The replay that came to what was recorded: 1, 2; 0: neither.
  int like_record = 0;
  // Whether another layout came to the first replay's bits; null: not asked.
  std::optional<bool> layout_agrees = {};
  std::string layout = {};
  std::vector<std::string> notes = {};

  bool repeatable() const { return parted_at == 0; }
};

// `once` is what `window` came to.
absl::StatusOr<Witness> AskAgain(FileSystem& fs, const Replayer& replay,
                                 const WindowOptions& window,
                                 const ReplayedWindow& once,
                                 const WitnessOptions& options);

// The first step whose lines differ between two replays; 0: none.
int64_t WherePart(const ReplayedWindow& a, const ReplayedWindow& b);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_REPLAY_WITNESS_H_
