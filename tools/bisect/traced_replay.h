// One of the two runs, its step done again with a trace.
//
// What it is: a replay of one step on all ranks of the run, here or by the
// program that made the run, and what it came to. What it is not: a comparison
// (bisect.h). Why so: each run may have a program of its own, and the trace in
// files is what both kinds have in common.
#ifndef LOCKSTEP_TOOLS_BISECT_TRACED_REPLAY_H_
#define LOCKSTEP_TOOLS_BISECT_TRACED_REPLAY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/trace_writer.h"
#include "tools/bisect/loaded_state.h"
#include "tools/replay_window.h"

namespace lockstep {

using SampleTokens = std::vector<int32_t>;

struct ReplayedSide {
  bool recurs = false;                   // all that was traced
  std::vector<std::string> fields = {};  // that did not
  int64_t began_at = 0;
  // Of each sample of the step, and of the next, its tokens; empty of another
  // program's replay.
  std::map<uint64_t, SampleTokens> tokens = {};
  // Before the step, and after it; empty of another program's replay.
  RanksState state = {}, after = {};
  std::vector<std::string> notes = {};
};

struct SideOptions {
  std::string run = {};
  std::string binary = {};  // empty: this program
  std::string traces = {};  // a folder to make
  int64_t step = 0;
  int64_t traced_from = 0;  // an earlier step; 0: the step
  int64_t checkpoint_at_most = -1;
  bool from_seed = false;
  int64_t threads = 0;
  std::string bytes_of = {};  // a module, of which alone all bytes are traced
  std::vector<std::string> sets = {};  // over the run's recipe, "key=value"

  int64_t FirstTraced() const { return traced_from > 0 ? traced_from : step; }
};

absl::StatusOr<ReplayedSide> TracedReplay(FileSystem& fs,
                                          const SideOptions& options);

// The window of what is traced, from where the side begins; and how it is.
WindowOptions WindowOf(const SideOptions& options);
TraceOptions TraceOf(const SideOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_TRACED_REPLAY_H_
