// The state of all ranks before a step, by entry.
//
// What it is: a fingerprint of every entry of every rank's registry, and the
// entries in which two runs differ. What it is not: the `state` field, which
// says that something differs and not what. Why so: a load that changes one
// tensor is found by that tensor's name.
#ifndef LOCKSTEP_TOOLS_BISECT_LOADED_STATE_H_
#define LOCKSTEP_TOOLS_BISECT_LOADED_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "determinism/fingerprint.h"
#include "determinism/state.h"

namespace lockstep {

// By rank: its entries, as StateTensorFingerprints has them, without run-time
// weights, which are made from others.
using RanksState = std::map<int, std::vector<TensorFingerprint>>;

struct StateDifference {
  std::string entry = {};  // "parameters/backbone.norm_f.weight.master"
  int rank = 0;            // -1: of wholes, over two layouts
  int64_t entries = 0;     // that differ on some rank
  // Of the run that was loaded, or saved: the file that holds it; empty:
  // unknown.
  std::string path = {};
  // Whether the file says of itself that it has what the other run has: then
  // the load changed it, else it was saved so.
  std::optional<bool> saved_right = {};

  bool any() const { return entries > 0; }
};

// Entries in their order, the first that differs: rank by rank, or over two
// layouts each as a whole.
StateDifference CompareStates(const RanksState& a, const RanksState& b,
                              bool across_layouts);

// Fills in path and saved_right from the checkpoint of `step` that `run` was
// loaded from; `other` is the state of the other run.
absl::Status TraceToCheckpoint(FileSystem& fs, const std::string& run,
                               int64_t step, const RanksState& other,
                               StateDifference& difference);

// Where the checkpoint that `run` wrote after `step` holds something else than
// `replayed`, its steps done again. With the file, and not saved right.
absl::StatusOr<StateDifference> SavedDifference(FileSystem& fs,
                                                const std::string& run,
                                                int64_t step,
                                                const RanksState& replayed);

// Of the checkpoints of `step` that both runs have, the first entry that
// differs; the file is run b's, which need not be the wrong one.
absl::StatusOr<StateDifference> SavedApart(FileSystem& fs, const std::string& a,
                                           const std::string& b, int64_t step);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_LOADED_STATE_H_
