// `lockstep compare`: did a change help, or is it the seed?
//
// What it is: two arms of runs, or of numbers, matched (lineage.h) and tested
// (welch.h); the answer in words and as JSON. What it is not: a replay, or a
// search over steps. Why so: whoever asks must be told when the runs are no
// matched pair, and when there are too few of them to tell.
#ifndef LOCKSTEP_TOOLS_COMPARE_COMPARE_VERB_H_
#define LOCKSTEP_TOOLS_COMPARE_COMPARE_VERB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/compare/lineage.h"
#include "tools/compare/spread_file.h"
#include "tools/compare/welch.h"
#include "tools/verbs.h"

namespace lockstep {

struct CompareOptions {
  // Folders of runs, or numbers "2.412,2.418"; one kind for both arms.
  std::vector<std::string> baseline = {};
  std::vector<std::string> candidate = {};
  double min_effect = 0;
  std::string spread = {};           // a file of `seeds`
  std::string allow_unmatched = {};  // the reason; empty: refuse
  int64_t threads = 0;               // of an evaluation that is done now
  bool json = false;
};

struct CompareArm {
  std::vector<std::string> names;  // of runs; empty for numbers
  std::vector<double> values;
  std::vector<ComparedRun> runs;
  ArmStatistics statistics;
};

struct CompareReport {
  double min_effect = 0;
  CompareArm baseline, candidate;
  WelchResult result;
  std::vector<std::string> compared;    // what differs between the arms
  std::vector<std::string> mismatches;  // admitted for `reason`
  std::string reason;
  std::vector<std::string> notes;
  // Standard error of a run's loss over the evaluation's samples, the largest.
  std::optional<double> evaluation_error;
};
std::string CompareJson(const CompareReport& report);
std::string CompareText(const CompareReport& report);

// Negative: regressed or inconclusive. ManifestMismatch: runs that are no match
// and no reason to compare them all the same. InputError: arguments, and runs
// that have no final evaluation (final_evaluation.h).
absl::StatusOr<Answer> CompareVerb(const CompareOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_COMPARE_VERB_H_
