// Whether runs may stand in one arm, and two arms against each other.
//
// What it is: what happened to a run that makes it another sample than its
// recipe says, and what differs between runs that a comparison takes for alike.
// What it is not: statistics (welch.h), or what a resume accepts
// (ckpt/manifest_compare.h), whose table says which differences can move bits.
// Why so: a run whose layout changed half way, that was forked or passed over
// samples is drawn from another distribution than its neighbours, and the
// t test cannot see that.
#ifndef LOCKSTEP_TOOLS_COMPARE_LINEAGE_H_
#define LOCKSTEP_TOOLS_COMPARE_LINEAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ckpt/manifest.h"
#include "determinism/file_system.h"
#include "tools/compare/final_evaluation.h"
#include "tools/compare/lineage_event.h"

namespace lockstep {

struct ComparedRun {
  std::string dir;
  Manifest manifest;  // of the launch that made the last step
  FinalEvaluation evaluation;
  std::vector<LineageEvent> events;
};

// Manifest, evaluation and events of a run; its folder is only read.
absl::StatusOr<ComparedRun> ReadComparedRun(FileSystem& fs,
                                            const std::string& run_dir,
                                            int64_t threads);

struct Matching {
  // What speaks against the comparison, a line each.
  std::vector<std::string> mismatches;
  // What differs between the arms, and so is what is compared.
  std::vector<std::string> compared;
};

// Within an arm all but the seed must agree that can move bits, and no seed may
// be there twice; between arms recipe and code may differ, and data, tokenizer,
// layout (below layout_invariant), evaluation and tokens trained on may not. An
// event that all runs share is no mismatch.
Matching MatchRuns(const std::vector<ComparedRun>& baseline,
                   const std::vector<ComparedRun>& candidate);

// Mismatches of the runs of one arm alone.
std::vector<std::string> MismatchesWithin(const std::vector<ComparedRun>& runs);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_LINEAGE_H_
