// `lockstep seeds`: one recipe over several seeds, and how far they spread.
//
// What it is: N runs through `train`, below one folder, each the recipe with
// another seed; their final evaluations and the file that `compare --spread`
// reads. What it is not: a scheduler: runs go one after the other, on this
// machine. Why so: the spread is measured once a scale and used for a long
// time, so it can be stopped at any moment and goes on: a run that is there is
// resumed, one that is done is not touched.
#ifndef LOCKSTEP_TOOLS_COMPARE_SEEDS_VERB_H_
#define LOCKSTEP_TOOLS_COMPARE_SEEDS_VERB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/verbs.h"

namespace lockstep {

struct SeedsOptions {
  std::string recipe = {};
  std::vector<std::string> sets = {};
  int64_t seeds = 0;  // from the recipe's own on: s, s + 1, ...
  // Of the runs; empty: runs/seeds-<recipe>-<8 of identity>.
  std::string folder = {};
  std::string out = {};  // the spread's file; empty: FOLDER/spread.json
  std::vector<std::string> allow = {};
  std::string reason = {};
  int64_t threads = 0;
  int64_t ranks = 1;
  bool json = false;
  bool quiet = false;
};

// InputError: a recipe that holds nothing out or sets the seed twice, a folder
// with runs of another recipe. ManifestMismatch: runs that differ in more than
// their seeds, as after an update between two of them.
absl::StatusOr<Answer> SeedsVerb(const SeedsOptions& options);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_COMPARE_SEEDS_VERB_H_
