// Where two runs part, told from their folders alone.
//
// What it is: what they are made of, what happened to them, the first step
// whose line differs with what that says, and the last checkpoint that both
// have in the same bits. What it is not: a replay, or a proof: which operation
// did it needs both runs to do the step again from that checkpoint. Why so:
// most differences are explained by a manifest, and all of this takes a moment.
#ifndef LOCKSTEP_TOOLS_DIFF_RUN_DIFF_H_
#define LOCKSTEP_TOOLS_DIFF_RUN_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "determinism/file_system.h"
#include "tools/compare/lineage.h"
#include "tools/diff/metric_lines.h"

namespace lockstep {

struct DiffEntry {
  std::string key;  // "optimizer.lr", "hardware.cpu_model"
  std::string a, b;
  bool explains = false;  // can move bits, on the rung of these runs
  std::string why;
};

// A pair of checkpoints of one step; 0: none.
struct SharedCheckpoint {
  int64_t step = 0;
  std::string a, b;   // their folders
  std::string state;  // the fingerprint, if it is one
};

struct RunDiff {
  std::string run_a, run_b;
  bool equal = false;
  // Of the launches that made the first differing step, else the last common
  // one; sorted by key.
  std::vector<DiffEntry> manifest;
  // What happened to one and not to the other.
  std::vector<LineageEvent> only_a, only_b;
  // Fingerprints of all state before the first step; "" where none is recorded.
  std::string start_a, start_b;
  MetricsParting metrics;
  // What the first difference says, in words.
  std::string reading;
  // The newest of both that is equal, and the oldest that is not.
  SharedCheckpoint last_equal, first_different;
};

// What the fields that differ first say about where it began: `fields` as
// FieldsThatDiffer has them, of a step before which all was equal.
std::string ReadingOf(const std::vector<std::string>& fields);

// The same of a whole comparison: what `reading` is. `whole`: both have all
// steps since their own first.
std::string ReadingOfRuns(const RunDiff& diff, bool whole);

// InputError: no run, or metrics that no trainer wrote.
absl::StatusOr<RunDiff> DiffRuns(FileSystem& fs, const std::string& run_a,
                                 const std::string& run_b);

std::string RunDiffText(const RunDiff& diff);
std::string RunDiffJson(const RunDiff& diff);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_DIFF_RUN_DIFF_H_
